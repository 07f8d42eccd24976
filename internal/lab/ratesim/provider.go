package ratesim

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

// Provider describes a provider and the way to it.
type Provider struct {
	Name, About string
	// Limiter makes the hidden limit; the seed decides what is random in it.
	Limiter func(seed uint64) Limiter
	// Tells makes refusals carry Retry-After in whole seconds, rounded up.
	Tells bool
	// Cuts makes refusals break the connection instead of answering.
	Cuts bool
	// Announces makes every answer carry the allowance, if the limiter has one.
	Announces bool
	// Median and Spread shape the answering time, which is log-normal.
	Median time.Duration
	Spread float64
	// Errors, Timeouts and Missing are the shares of requests within the limit
	// that end in a server error, in no answer, and in a final refusal.
	Errors, Timeouts, Missing float64
}

const (
	// oneWay and jitter are the time from the client to the provider: a fixed part
	// and the mean of an exponential one, so that even perfect pacing arrives unevenly.
	oneWay, jitter = 10 * time.Millisecond, 3 * time.Millisecond
	longestJitter  = 50 * time.Millisecond
	// fastest and slowest bound the answering time of an unhindered request.
	fastest, slowest = 20 * time.Millisecond, 300 * time.Millisecond
	// patience is how long the client waits for an answer.
	patience = 10 * time.Second
)

// world is a provider in operation. What happens to requests that pass is drawn
// apart from the rest, so that two clients with different refusals meet the same
// answers in the same order.
type world struct {
	Provider
	limiter Limiter
	network *rand.Rand
	service *rand.Rand
}

func newWorld(p Provider, seed uint64) *world {
	return &world{
		Provider: p, limiter: p.Limiter(seed),
		network: rand.New(rand.NewPCG(seed, 1)), service: rand.New(rand.NewPCG(seed, 2)),
	}
}

// travel is how long the next request takes to arrive.
func (w *world) travel() time.Duration {
	return oneWay + min(longestJitter, seconds(jitter.Seconds()*w.network.ExpFloat64()))
}

// answer decides about a request that arrives now. It returns what the client
// sees and when.
func (w *world) answer(sent, now time.Duration) (governor.Outcome, time.Duration) {
	r := w.limiter.Take(now)
	if !r.Pass {
		back := now + oneWay + seconds(0.02*w.network.Float64())
		return w.refusal(r), back
	}
	took := seconds(w.Median.Seconds() * math.Exp(w.Spread*w.service.NormFloat64()))
	back := max(sent+min(max(took, fastest), slowest), now+oneWay) + r.Slow
	lot := w.service.Float64()
	if o, ok := w.limiter.(occupied); ok {
		o.Occupy(back)
	}
	o := governor.Outcome{Kind: governor.Success, Quota: w.quota(r)}
	switch {
	case lot < w.Timeouts || back > sent+patience:
		return governor.Outcome{Kind: governor.Failed}, sent + patience
	case lot < w.Timeouts+w.Errors:
		o = governor.Outcome{Kind: governor.Failed}
	case lot < w.Timeouts+w.Errors+w.Missing:
		o.Kind = governor.Rejected
	}
	return o, back
}

func (w *world) refusal(r Ruling) governor.Outcome {
	if w.Cuts {
		return governor.Outcome{Kind: governor.Failed, Cut: true}
	}
	o := governor.Outcome{Kind: governor.Throttled, Quota: w.quota(r)}
	if (w.Tells || r.Tell) && !r.Hush {
		o.HasRetryAfter, o.RetryAfter = true, ceilSeconds(r.Wait)
	}
	return o
}

func (w *world) quota(r Ruling) governor.Quota {
	if !w.Announces || r.Limit == 0 {
		return governor.Quota{}
	}
	return governor.Quota{Known: true, Limit: r.Limit, Remaining: r.Left, Reset: ceilSeconds(r.Reset)}
}
