package governor

import "time"

// Config is how one provider is approached. Default gives what every provider
// gets; New applies adjustments to it.
type Config struct {
	// Discovery is the interval of a cold start, before the provider has said
	// anything. Zero turns pacing off: no wait, no learning, no snapshot.
	Discovery time.Duration
	// Ceiling is the owner's one number: the shortest interval between two
	// requests, which no success can undercut.
	Ceiling time.Duration
	// Longest bounds the interval; zero means that nothing does.
	Longest time.Duration
	// Burst is how much unused time may be made up for after a pause, at most two
	// intervals. Zero means exactly that.
	Burst time.Duration
	// Lanes is how many requests may be in flight at most. The governor begins with one and
	// opens others while answering times and not the limit bound the flow; see
	// Governor.Lanes. Zero leaves their number to the caller.
	Lanes int
	// MaxWait is the longest single wait for the provider. A longer one is
	// deferred to a later run instead of shortened; zero means no bound.
	MaxWait time.Duration
	// Attempts is how often one request is sent at most.
	Attempts int
	// Backoff and MaxBackoff shape the pause before a repeated request: a random
	// part of Backoff doubled by each attempt, never more than MaxBackoff.
	Backoff, MaxBackoff time.Duration
	// Retries bounds the repetitions of the whole run.
	Retries RetryBudget
	// Breaker says when requests are denied because the provider is down.
	Breaker Breaker
	// Run bounds the run as a whole; a wait that would outlast it is deferred.
	Run *RunBudget
	// Learned is what an earlier run found out; nil starts cold.
	Learned *Learned
	// Seed makes the jitter; governors that share one move together.
	Seed uint64
}

// Default is the configuration of a provider about which nothing is known.
func Default() Config {
	return Config{
		Discovery: time.Second, Ceiling: 250 * time.Millisecond, Longest: time.Minute, MaxWait: 5 * time.Minute,
		Attempts: 4, Backoff: time.Second, MaxBackoff: time.Minute,
		Retries: RetryBudget{Capacity: 100, Initial: 8, Refill: 0.2},
		Breaker: Breaker{Share: 0.5, Least: 5, Window: 10, Recover: time.Minute},
	}
}
