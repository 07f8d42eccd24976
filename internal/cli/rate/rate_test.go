package rate

import (
	"testing"
)

func TestRichTerminal(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		vars map[string]string
		want bool
	}{
		{map[string]string{"TERM": "xterm", "LANG": "de_DE.UTF-8"}, true},
		{map[string]string{"LC_ALL": "C.utf8"}, true},
		{map[string]string{"LC_ALL": "C", "LANG": "de_DE.UTF-8"}, false},
		{map[string]string{"LANG": "C.UTF-8", "TERM": "dumb"}, false},
		{map[string]string{"LANG": "C.UTF-8", "TERM": "linux"}, false},
		{map[string]string{"LANG": "C.UTF-8", "NO_COLOR": "1"}, false},
		{nil, false},
	} {
		lookup := func(name string) (string, bool) { v, ok := tt.vars[name]; return v, ok }
		if got := isUnicodeTerminal(lookup); got != tt.want {
			t.Errorf("%v: %t, want %t", tt.vars, got, tt.want)
		}
	}
}
