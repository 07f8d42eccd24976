package notion

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// FuzzBlock shows that whatever an answer holds is a block with one spelling of its id, or an error.
func FuzzBlock(f *testing.F) {
	f.Add([]byte(`{"id":"0F9E00000000400080000000000000A1","type":"to_do","has_children":true,` +
		`"to_do":{"rich_text":[{"plain_text":"a"}]}}`))
	f.Add([]byte(`{"id":"x","type":"table_row","table_row":{"cells":[[{"plain_text":"a"}],[]]}}`))
	f.Add([]byte(`{"id":"x","type":"synced_block","has_children":true,"synced_block":{"synced_from":{"block_id":"y"}}}`))
	f.Add([]byte(`{"id":"x","type":"id"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		b, inside, err := readBlockRecord(jsontext.Value(raw))
		if err != nil && inside {
			t.Error("what cannot be read holds others")
		}
		if canonicalID(b.ID) != b.ID {
			t.Errorf("%q has another spelling", b.ID)
		}
	})
}
