package slack

import (
	"testing"
	"time"
)

// FuzzStamp shows that a stamp is a moment and back the same, or nothing.
func FuzzStamp(f *testing.F) {
	for _, s := range []string{"1772359872.123459", "1772359872.000000", "1772359872.12345", "-772359872.123459",
		"1e72359872.123459", "0000000000.000000", "+772359872.123459"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		at, real := messageStamp(text).stampTime()
		if real && string(stampOfTime(at)) != text {
			t.Errorf("%q is %s, which is %q", text, at.Format(time.RFC3339Nano), stampOfTime(at))
		}
	})
}
