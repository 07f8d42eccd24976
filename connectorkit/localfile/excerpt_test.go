package localfile

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzExcerpt holds the unquoting against the standard library's.
func FuzzExcerpt(f *testing.F) {
	for _, text := range []string{"", "plain", "tab\tquote\"slash/\\", "ümlaut €", "🚲 wheel", "\u2028\x00",
		`\ud83d\ude00 \ud83d x \ude00`, "a\xffb"} {
		quoted, err := json.Marshal(text)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(quoted, 5)
	}
	f.Add([]byte(`"\ud83d\ude00 \ud83d x \ude00 \u00e4\/\b\f"`), 100)
	f.Fuzz(func(t *testing.T, quoted []byte, limit int) {
		var want string
		if len(quoted) < 2 || quoted[0] != '"' || json.Unmarshal(quoted, &want) != nil {
			return
		}
		var s JSONScanner
		s.Start(quoted)
		raw, err := s.Raw()
		if err != nil {
			return // stricter than the standard library
		}
		whole := &Excerpt{Limit: len(quoted) * 3}
		whole.Quoted(raw)
		if got := whole.String(); utf8.Valid(quoted) && got != want || !utf8.ValidString(got) {
			t.Errorf("%s reads as %q, want %q", quoted, got, want)
		}
		part := &Excerpt{Limit: limit % 50, Sum: true}
		part.Quoted(raw)
		if got := part.String(); !utf8.ValidString(got) || part.Total() != whole.Total() ||
			!strings.HasPrefix(whole.String(), got) && utf8.ValidString(want) {
			t.Errorf("%s cut at %d reads as %q", quoted, limit%50, got)
		}
	})
}
