package ratesim

import (
	"math"
	"time"
)

// Limiter is a provider's hidden limit. Times count from the start of the run
// and never decrease from one Take to the next.
type Limiter interface {
	// Take decides about a request that arrives now.
	Take(now time.Duration) Ruling
	// Free is the earliest time, not before now, at which Take lets a request pass.
	Free(now time.Duration) time.Duration
	// Rate is the limit in force, in requests per second over a long time.
	Rate(now time.Duration) float64
}

// Ruling is what a limiter decides about one request.
type Ruling struct {
	Pass bool
	// Slow is how much longer the answer takes because the limiter holds it back.
	Slow time.Duration
	// Wait is when a refused request could pass, from now on.
	Wait time.Duration
	// Tell marks a refusal that always names its wait, Hush one that never does.
	Tell, Hush bool
	// Limit, Left and Reset are the allowance; a zero Limit means that there is none.
	Limit, Left int
	Reset       time.Duration
}

// occupied is implemented by a limiter that counts requests in progress.
type occupied interface {
	// Occupy tells until when the request that just passed is in progress.
	Occupy(until time.Duration)
}

// tick is added to computed waits, so that rounding never lands just short of them.
const tick = time.Microsecond

// roundoff is the fraction of a request that sums of fractions may lack.
const roundoff = 1e-9

func seconds(s float64) time.Duration {
	return time.Duration(math.Min(s, 1e9) * float64(time.Second))
}

// ceilSeconds is how providers spell a duration: whole seconds, never too few.
func ceilSeconds(d time.Duration) time.Duration {
	return (max(0, d) + time.Second - 1).Truncate(time.Second)
}
