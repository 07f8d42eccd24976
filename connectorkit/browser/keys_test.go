package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// TestKeyCodes compares the numbers of named keys with those that chromedp sends.
func TestKeyCodes(t *testing.T) {
	want := map[string]int64{"Shift": 16, "Control": 17, "Alt": 18} // there those of the left or right one
	for _, k := range kb.Keys {
		if want[k.Key] == 0 {
			want[k.Key] = k.Windows
		}
	}
	for _, name := range strings.Fields(`Backspace Tab Enter Shift Control Alt CapsLock Escape PageUp PageDown End Home
		ArrowLeft ArrowUp ArrowRight ArrowDown Insert Delete Meta F1 F2 F3 F4 F5 F6 F7 F8 F9 F10 F11 F12 a z A Z 0 9`) {
		if got := keyCode(name); got == 0 || got != want[name] {
			t.Errorf("%s: %d, want %d", name, got, want[name])
		}
	}
	if got := keyCode(" "); got != want[" "] {
		t.Errorf("space: %d", got)
	}
}
