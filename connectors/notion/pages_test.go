package notion

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// What lies beyond the bounds of a page is declared missing, once, and what lies within them is read.
func TestBoundsAreDeclared(t *testing.T) {
	t.Parallel()
	raw := func(id string) jsontext.Value {
		return jsontext.Value(`{"id":"` + id + `","type":"paragraph","has_children":true,"paragraph":{"rich_text":[]}}`)
	}
	deep := &pageReader{page: contentRecord{ID: "page"}, met: map[string]bool{}}
	if err := deep.readOneBlock(t.Context(), "page", raw("a"), maxBlockDepth); err != nil || len(deep.page.Blocks) != 1 ||
		len(deep.missing) != 1 {
		t.Errorf("the deepest block: %v, %d blocks, %d missing", err, len(deep.page.Blocks), len(deep.missing))
	}
	long := &pageReader{page: contentRecord{ID: "page", Blocks: make([]blockRecord, mostBlocks)}, met: map[string]bool{}}
	for _, id := range []string{"a", "b"} {
		if err := long.readOneBlock(t.Context(), "page", raw(id), 0); err != nil {
			t.Fatal(err)
		}
	}
	if len(long.page.Blocks) != mostBlocks || len(long.missing) != 1 {
		t.Errorf("a long page: %d blocks, %d missing", len(long.page.Blocks), len(long.missing))
	}
}
