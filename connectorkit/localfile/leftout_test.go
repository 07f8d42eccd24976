package localfile_test

import (
	"fmt"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/localfile"
)

// TestLeftovers holds that unrecognized files are counted by name, then by ending, then together, and that a
// pattern that was met before has room.
func TestLeftovers(t *testing.T) {
	var l localfile.Leftovers
	for i := range 70 {
		word := fmt.Sprintf("%c%c", 'a'+i/10, 'a'+i%10)
		want := word + "." + word
		switch {
		case i >= 60:
			want = "other files"
		case i >= 40:
			want = "*." + word
		}
		if got, known := l.Add(nil, word+"."+word); got != want || known {
			t.Errorf("file %d is counted as %q, want %q", i, got, want)
		}
	}
	for rel, want := range map[string]string{"aa.aa": "aa.aa", "b.ea": "*.ea", "b.ga": "other files"} {
		if got, _ := l.Add(nil, rel); got != want {
			t.Errorf("%s is counted as %q, want %q", rel, got, want)
		}
	}
	if l.Unknown["aa.aa"] != 2 || l.Unknown["*.ea"] != 2 || l.Unknown["other files"] != 11 || len(l.Unknown) != 61 {
		t.Errorf("counted %v", l.Unknown)
	}
}
