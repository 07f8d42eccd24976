package output

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/internal/ops/text"
)

// Whatever is written, in whatever pieces, only text comes out; and text comes out as it is.
func TestOnlyTextComesOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SliceOf(rapid.Byte()).Draw(t, "text")
		if rapid.Bool().Draw(t, "valid") {
			line = []byte(rapid.String().Draw(t, "string"))
		}
		var out bytes.Buffer
		p := &PlainText{Writer: &out}
		for rest := line; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			if got, err := p.Write(rest[:n]); got != n || err != nil {
				t.Fatalf("Write = %d, %v", got, err)
			}
			rest = rest[n:]
		}
		for _, r := range out.String() {
			if r != '\n' && r != '\t' && text.Obeyed(r) {
				t.Fatalf("%q comes out of %q", r, line)
			}
		}
		harmless := strings.Map(func(r rune) rune {
			if r != '\n' && r != '\t' && text.Obeyed(r) {
				return -1
			}
			return r
		}, strings.ToValidUTF8(string(line), ""))
		if string(line) == harmless && out.String() != harmless {
			t.Fatalf("%q became %q", harmless, out.String())
		}
	})
}

// JSON keeps its meaning.
func TestEscapedMeansTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.String().Draw(t, "text") + rapid.SampledFrom([]string{"", "\u202e", "\u009b", "\U000e0041"}).Draw(t,
			"evil")
		b, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got string
		if err := json.Unmarshal(escapeControlCharacters(b), &got); err != nil || got != want {
			t.Fatalf("%q became %q, %v", want, got, err)
		}
	})
}
