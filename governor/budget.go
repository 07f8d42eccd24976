package governor

import (
	"math"
	"math/bits"
	"sync"
	"time"
)

func ones(b uint64) int { return bits.OnesCount64(b) }

// Reason is why a request is not sent, or not sent again, although nothing is
// wrong with it. All of them are stops that we chose: none says that the
// provider is under pressure.
type Reason string

const (
	MaxRequests      Reason = "max_requests"
	MaxWallClock     Reason = "max_wall_clock"
	RetriesExhausted Reason = "retry_budget"
	CircuitOpen      Reason = "circuit_open"
)

// RunBudget is an owner's envelope around one run. The zero value bounds
// nothing. It answers at once, never waits, and is safe for concurrent use.
type RunBudget struct {
	Requests  int           // attempts, whether they succeed or not; zero means any number
	WallClock time.Duration // from Began on; zero means any time
	Began     time.Time     // when the run began; zero means at the first question
	Details   time.Duration // from the first detail on; zero means any time

	mu      sync.Mutex
	spent   int
	details time.Time // when the first detail was asked for
}

// BeginDetails starts the clock of Details, once.
func (b *RunBudget) BeginDetails(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.details.IsZero() {
		b.details = now
	}
}

// Exhausted names the bound that another attempt would exceed; empty when there
// is none. It is asked between attempts: one in flight is never interrupted.
func (b *RunBudget) Exhausted(now time.Time) Reason {
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

// Remaining is how many attempts are left; false when they are not bounded.
func (b *RunBudget) Remaining() (int, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return max(0, b.Requests-b.spent), b.Requests > 0
}

// Left is how much of the wall clock remains; false when it is not bounded.
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

// RetryBudget bounds the retries of a whole run as a share of its successes. It
// is distinct from the attempts of one request. The zero value bounds nothing.
type RetryBudget struct {
	Capacity float64 // most tokens held; zero means that retries are not counted
	Initial  float64 // tokens at the beginning
	Refill   float64 // tokens per success: the share of requests that may be retries
}

// ForRequests is a budget of a fifth of a run's request cap.
func ForRequests(limit int) RetryBudget {
	tokens := max(1, math.Ceil(0.2*float64(limit)))
	return RetryBudget{Capacity: tokens, Initial: tokens, Refill: 0.2}
}

type tokens struct {
	RetryBudget
	left float64
}

func newTokens(b RetryBudget) tokens { return tokens{b, min(b.Initial, b.Capacity)} }

func (t *tokens) bounded() bool { return t.Capacity > 0 }

// take spends a token for one retry, if there is one.
func (t *tokens) take() bool {
	if !t.bounded() {
		return true
	}
	// Refills of a fifth do not add up to whole tokens exactly.
	if t.left < 1-1e-9 {
		return false
	}
	t.left = max(0, t.left-1)
	return true
}

func (t *tokens) success() { t.left = min(t.Capacity, t.left+t.Refill) }
