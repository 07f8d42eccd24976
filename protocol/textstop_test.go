package protocol

import (
	"strings"
	"testing"
)

// TestTextStop checks that the word-wise search finds the same stop as a byte-wise search.
func TestTextStop(t *testing.T) {
	t.Parallel()
	plainly := func(b []byte, i int) (int, bool) {
		ascii := true
		for ; i < len(b) && b[i] != '"' && b[i] != '\\' && b[i] >= ' '; i++ {
			ascii = ascii && b[i] < 0x80
		}
		return i, ascii
	}
	for _, stop := range []string{`"`, `\`, "\x00", "\x1f", "\x7f", "\x80", "\xa2", "\xdc", "ä", "!#[]", `""`, `!"`,
		"\xa2\"", ""} {
		for before := range 36 {
			b := []byte(strings.Repeat("a", before) + stop + strings.Repeat("b", 35-before))
			for i := range len(b) + 1 {
				at, ascii := TextStop(b, i)
				if wantAt, wantASCII := plainly(b, i); at != wantAt || ascii != wantASCII {
					t.Fatalf("%q from %d stops at %d (%t), want %d (%t)", b, i, at, ascii, wantAt, wantASCII)
				}
			}
		}
	}
}
