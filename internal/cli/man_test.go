package cli

import (
	"testing"
)

func TestRoff(t *testing.T) {
	for text, want := range map[string]string{
		".SH x": `\&.SH x`, "'x": `\&'x`, `a\b`: `a\eb`, "--json": `\-\-json`, "a\n.b": "a\n\\&.b",
	} {
		if got := roffEscape(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got, want := roffParagraphs("one\n\n  two\nthree"), "one\n.PP\n.nf\n  two\n.fi\nthree\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
