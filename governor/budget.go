package governor

import (
	"math"
	"math/bits"
	"sync"
	"time"
)

func countOnes(b uint64) int { return bits.OnesCount64(b) }

// StopReason names the limit of our own that stopped a request or its retry. It never means that the provider is
// overloaded.
type StopReason string

const (
	MaxRequests      StopReason = "max_requests"
	MaxWallClock     StopReason = "max_wall_clock"
	RetriesExhausted StopReason = "retry_budget"
	CircuitOpen      StopReason = "circuit_open"
)

// RunBudget limits one run on behalf of the owner. The zero value sets no limit. RunBudget never waits and is
// safe for concurrent use.
type RunBudget struct {
	Requests  int           // maximum attempts, successful or not; zero means no limit
	WallClock time.Duration // maximum duration since Began; zero means no limit
	Began     time.Time     // start of the run; zero means the first call
	Details   time.Duration // maximum duration since the first detail; zero means no limit

	mu      sync.Mutex
	spent   int
	details time.Time // when the first detail was requested
}

// BeginDetails starts the time of Details. Later calls have no effect.
func (b *RunBudget) BeginDetails(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.details.IsZero() {
		b.details = now
	}
}

// Exhausted returns the limit that another attempt would exceed, or "". Callers check it between attempts; a
// request in flight is never interrupted.
func (b *RunBudget) Exhausted(now time.Time) StopReason {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.Requests > 0 && b.spent >= b.Requests {
		return MaxRequests
	}
	if left, bounded := b.left(now); bounded && left <= 0 {
		return MaxWallClock
	}
	return ""
}

// Spend counts one attempt.
func (b *RunBudget) Spend() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.spent++
}

// Remaining returns how many attempts are left. It returns false if they are not limited.
func (b *RunBudget) Remaining() (int, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return max(0, b.Requests-b.spent), b.Requests > 0
}

// Left returns how much of the wall clock remains. It returns false if it is not limited.
func (b *RunBudget) Left(now time.Time) (time.Duration, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.left(now)
}

func (b *RunBudget) left(now time.Time) (left time.Duration, bounded bool) {
	if b.WallClock > 0 {
		if b.Began.IsZero() {
			b.Began = now
		}
		left, bounded = b.WallClock-now.Sub(b.Began), true
	}
	if b.Details > 0 && !b.details.IsZero() {
		if ofDetails := b.Details - now.Sub(b.details); !bounded || ofDetails < left {
			left, bounded = ofDetails, true
		}
	}
	return left, bounded
}

// RetryBudget limits the retries of a whole run to a share of its successes. Config.Attempts limits those of one
// request. The zero value sets no limit.
type RetryBudget struct {
	Capacity float64 // maximum tokens; zero means that retries are not counted
	Initial  float64 // tokens at the start
	Refill   float64 // tokens per success: the share of requests that may be retries
}

// RetryBudgetFor returns a budget of one fifth of a run's maximum number of requests.
func RetryBudgetFor(limit int) RetryBudget {
	tokens := max(1, math.Ceil(0.2*float64(limit)))
	return RetryBudget{Capacity: tokens, Initial: tokens, Refill: 0.2}
}

type retryTokens struct {
	RetryBudget
	left float64
}

func newRetryTokens(b RetryBudget) retryTokens { return retryTokens{b, min(b.Initial, b.Capacity)} }

func (t *retryTokens) bounded() bool { return t.Capacity > 0 }

// take spends a token for one retry. It reports whether there was one.
func (t *retryTokens) take() bool {
	if !t.bounded() {
		return true
	}
	// Refills of one fifth do not add up to whole tokens exactly.
	if t.left < 1-1e-9 {
		return false
	}
	t.left = max(0, t.left-1)
	return true
}

func (t *retryTokens) refill() { t.left = min(t.Capacity, t.left+t.Refill) }
