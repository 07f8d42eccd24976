package watch

import "testing"

func TestConditionsAreSummedUpInWords(t *testing.T) {
	for want, rows := range map[string][]conditionRow{
		"none of 2 fails":      make([]conditionRow, 2),
		"1 of 3 does not hold": {{}, {Fails: true}, {}},
		"2 of 3 do not hold":   {{Fails: true}, {}, {Fails: true}},
	} {
		if got := failing(rows); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
