package governor

import (
	"math"
	"time"
)

// longestSpan bounds every span and every instant, so that sums of them never
// overflow: about 73 years.
const longestSpan = math.MaxInt64 / 4

// span makes a duration of seconds.
func span(s float64) time.Duration {
	return time.Duration(max(0, min(math.Round(s*float64(time.Second)), longestSpan)))
}

func seconds(d time.Duration) float64 { return d.Seconds() }

// after is the instant d from at; a negative d is none.
func after(at, d time.Duration) time.Duration { return at + min(max(0, d), longestSpan) }
