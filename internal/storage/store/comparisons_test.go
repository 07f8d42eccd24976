package store

import (
	"strings"
	"testing"
)

// TestNumbersAreBounded checks that numbers are compared by value up to a length that both databases support.
func TestNumbersAreBounded(t *testing.T) {
	nines := func(n int) string { return strings.Repeat("9", n) }
	for text, want := range map[string]bool{
		"0": true, "-0.5": true, "12e-7": true, "1E+99": true, nines(200): true, "-" + nines(200) + "." + nines(100) +
			"e99": true,
		nines(201): false, "-" + nines(201) + "e1": false, "0." + nines(101): false, "0." + nines(101) + "E1": false,
		"1e100": false,
		"":      false, "-": false, ".5": false, "5.": false, "+5": false, "1e": false, " 1": false, "0x1": false,
		"1_0": false,
		"NaN": false,
	} {
		if _, got := ParseNumber(text); got != want {
			t.Errorf("%.20s of %d characters is a number: %v", text, len(text), got)
		}
	}
}
