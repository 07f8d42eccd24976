package outbox

import (
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// Whatever a payload is, it is refused or it comes back as it was.
func FuzzPayload(f *testing.F) {
	for _, seed := range []string{`{"a":[1,"x"]}`, ``, `nul`, `"\ud800"`, "\"\xff\"", `{"a":1,"a":2}`, "\"\x00\"", ` 1 `,
		`1e999`, `"a\u0000b"`} {
		f.Add([]byte(seed))
	}
	o, err := Open(f.Context(), filepath.Join(f.TempDir(), "notes.sqlite"))
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { o.Close() })
	f.Fuzz(func(t *testing.T, payload []byte) {
		if err := o.Enqueue(t.Context(),
			[]QueuedItem{{SourceInstanceID: "src-a", Kind: RecordBatch, Payload: jsontext.Value(payload)}}, noon); err != nil {
			return
		}
		items := o.mustClaim(t, 9, noon)
		if len(items) == 0 {
			return // the same as the one before it
		}
		if len(items) != 1 || string(items[0].Payload) != string(payload) {
			t.Fatalf("enqueued %q, claimed %+v", payload, items)
		}
		check(t, o.Ack(t.Context(), "", noon, items[0]))
	})
}

// What is kept of a cause is a code, and a code is kept as it is.
func FuzzCause(f *testing.F) {
	for _, seed := range []string{"http_503", "", "a b", "ä", "\x00", "device_batch_conflict"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, cause string) {
		got := code(cause)
		for _, r := range got {
			if r <= ' ' || r > '~' {
				t.Fatalf("kept %q", got)
			}
		}
		if len(got) == 0 || len(got) > longestCause || code(got) != got || got != cause && got != "unspecified" {
			t.Fatalf("%q is kept as %q", cause, got)
		}
	})
}
