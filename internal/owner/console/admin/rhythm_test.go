package admin

import (
	"testing"

	"pgregory.net/rapid"
)

func TestRhythmsComeBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		seconds := rapid.Int64Range(1, 366*86400).Draw(t, "seconds")
		if got, ok := rhythmOf(seconds).seconds(); !ok || got != seconds {
			t.Fatalf("%d became %v and then %d", seconds, rhythmOf(seconds), got)
		}
	})
	for _, c := range []struct {
		typed   rhythm
		seconds int64
	}{
		{rhythm{"1", "minutes"}, 60}, {rhythm{" 1.5 ", "hours"}, 5400}, {rhythm{"36600", "days"}, 36600 * 86400},
		{rhythm{"36601", "days"}, -1}, {rhythm{"0.01", "minutes"}, -1}, {rhythm{"0", "hours"}, -1},
		{rhythm{"-1", "days"}, -1},
		{rhythm{"NaN", "days"}, -1}, {rhythm{"1e300", "days"}, -1}, {rhythm{"six", "hours"}, 0}, {rhythm{"", "hours"}, 0},
		{rhythm{"1", "weeks"}, 0},
	} {
		if got, ok := c.typed.seconds(); ok != (c.seconds > 0) || c.seconds >= 0 && got != c.seconds {
			t.Errorf("%v was read as %d, %v", c.typed, got, ok)
		}
	}
}
