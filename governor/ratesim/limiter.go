package ratesim

import (
	"math"
	"time"
)

// Limiter is a provider's hidden limit. Times count from the start of the run
// and never decrease from one Take to the next.
type Limiter interface {
	// Admit decides about a request that arrives now.
	Admit(now time.Duration) Ruling
	// NextAdmission is the earliest time, not before now, at which Take lets a request pass.
	NextAdmission(now time.Duration) time.Duration
	// RateAt is the limit in force, in requests per second over a long time.
	RateAt(now time.Duration) float64
}

// Ruling is what a limiter decides about one request.
type Ruling struct {
	Pass bool
	// Slow is how much longer the answer takes because the limiter holds it back.
	Slow time.Duration
	// Wait is when a refused request could pass, from now on.
	Wait time.Duration
	// The first flag makes a refusal announce its wait, the second one hides the wait.
	Tell, Hush bool
	// Limit, Left and Reset are the allowance; a zero Limit means that there is none.
	Limit, Left int
	Reset       time.Duration
}

// inProgressLimiter is implemented by a limiter that counts requests in progress.
type inProgressLimiter interface {
	// Occupy sets until when the request that just passed is in progress.
	Occupy(until time.Duration)
}

// roundingMargin is added to computed waits, so that rounding never lands just short of them.
const roundingMargin = time.Microsecond

// fractionTolerance is the fraction of a request that sums of fractions may lack.
const fractionTolerance = 1e-9

func durationOf(s float64) time.Duration {
	return time.Duration(math.Min(s, 1e9) * float64(time.Second))
}

// ceilSeconds is how providers spell a duration: whole seconds, never too few.
func ceilSeconds(d time.Duration) time.Duration {
	return (max(0, d) + time.Second - 1).Truncate(time.Second)
}
