package governor

import (
	"math"
	"time"
)

// longestSpan, about 73 years, bounds every duration and instant, so that their sums never overflow.
const longestSpan = math.MaxInt64 / 4

// toDuration converts seconds. Negative numbers become zero.
func toDuration(s float64) time.Duration {
	return time.Duration(max(0, min(math.Round(s*float64(time.Second)), longestSpan)))
}

func inSeconds(d time.Duration) float64 { return d.Seconds() }

// instantAfter returns the instant d after at. A negative d counts as zero.
func instantAfter(at, d time.Duration) time.Duration { return at + min(max(0, d), longestSpan) }
