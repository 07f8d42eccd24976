package governor

import "time"

// Config configures a Governor. New starts from DefaultConfig.
type Config struct {
	// Discovery is the interval of a cold start, before anything is known about the limit. Zero turns pacing off:
	// no waits, no learning and no snapshot.
	Discovery time.Duration
	// Ceiling is the owner's maximum speed, expressed as the shortest interval between two requests.
	Ceiling time.Duration
	// Longest is the longest interval. Zero means no bound.
	Longest time.Duration
	// Burst is how much unused time a delayed flow may make up for, at most two intervals. Zero means two
	// intervals.
	Burst time.Duration
	// Lanes is the maximum number of requests in flight. The governor starts with one and opens more while
	// response times, and not the limit, bound the rate; see Governor.Lanes. Zero leaves the number to the
	// caller.
	Lanes int
	// MaxWait is the longest single wait for the provider. Next denies a request that would wait longer, so that
	// a later run can send it. Zero means no bound.
	MaxWait time.Duration
	// Attempts is the maximum number of times that one request is sent.
	Attempts int
	// Backoff and MaxBackoff bound the pause before a retry. The pause is random between zero and Backoff, which
	// doubles with each attempt up to MaxBackoff.
	Backoff, MaxBackoff time.Duration
	// Retries limits the retries of the whole run.
	Retries RetryBudget
	// Breaker configures when the circuit breaker denies requests because the provider is down.
	Breaker BreakerConfig
	// Run limits the run as a whole. Next denies a wait that would outlast it.
	Run *RunBudget
	// Learned is the snapshot of an earlier run. Nil means a cold start.
	Learned *Learned
	// Seed initializes the jitter. Governors with the same seed produce the same jitter.
	Seed uint64
}

// DefaultConfig returns the configuration for a provider with an unknown limit.
func DefaultConfig() Config {
	return Config{
		Discovery: time.Second, Ceiling: 250 * time.Millisecond, Longest: time.Minute, MaxWait: 5 * time.Minute,
		Attempts: 4, Backoff: time.Second, MaxBackoff: time.Minute,
		Retries: RetryBudget{Capacity: 100, Initial: 8, Refill: 0.2},
		Breaker: BreakerConfig{Share: 0.5, Least: 5, Window: 10, Recover: time.Minute},
	}
}
