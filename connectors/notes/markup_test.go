package notes

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit/localfile"
)

func mustEncode(t *testing.T, v any) jsontext.Value {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// FuzzNote holds that no file makes the connector fail, that what it finds is bounded and valid,
// and that its work grows no faster than the file.
func FuzzNote(f *testing.F) {
	for _, seed := range []string{
		"---\nid: [1]\ntags: {a: b}\n---\n# T\n[[a|b]] [c](d) #e", "---\na: &a [*a]\n---\n", "```\n#x\n~~~", "[[[[]]]](](<",
		"#\xff#é/-_# #", "`` ` `#a` [x](<y z>)", strings.Repeat("[[", 500),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		x := newNoteIndex(true)
		n := x.readNote(&localfile.File{Root: "notes", Rel: "a.md", Modified: time.Unix(0, 0), Size: int64(len(content))},
			content, 1<<10)
		if n.ID == "" || n.Title == "" || len(n.Tags) > maxTagsPerNote || len(n.Links) > maxLinksPerNote {
			t.Fatalf("%+v", n)
		}
		for _, text := range append(append([]string{n.ID, n.Title, n.Text}, n.Tags...), n.Links...) {
			if !utf8.ValidString(text) {
				t.Fatalf("not valid: %q", text)
			}
		}
		again := newNoteIndex(true)
		again.Load(mustEncode(t, x.Keep()))
		if again.assignKey("notes", "a.md", "", []byte("12345678")) != n.ID {
			t.Fatal("the index forgot the note")
		}
	})
}
