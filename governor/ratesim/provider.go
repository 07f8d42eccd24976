package ratesim

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

// Provider describes a provider and the network to it.
type Provider struct {
	Name, About string
	// Limiter returns the hidden limit; the seed determines its randomness.
	Limiter func(seed uint64) Limiter
	// When set, refusals carry Retry-After in whole seconds, rounded up.
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
	// networkDelay and jitter are the time from the client to the provider: a fixed part
	// and the mean of an exponential one, so that even perfect pacing arrives unevenly.
	networkDelay, networkJitter = 10 * time.Millisecond, 3 * time.Millisecond
	longestJitter               = 50 * time.Millisecond
	// minAnswerTime and slowest bound the answering time of an unhindered request.
	minAnswerTime, maxAnswerTime = 20 * time.Millisecond, 300 * time.Millisecond
	// clientTimeout is how long the client waits for an answer.
	clientTimeout = 10 * time.Second
)

// runningProvider is a provider in operation. The fate of admitted requests has its own random source, so that two
// clients with different refusals get the same answers in the same order.
type runningProvider struct {
	Provider
	limiter Limiter
	network *rand.Rand
	service *rand.Rand
}

func newRunningProvider(p Provider, seed uint64) *runningProvider {
	return &runningProvider{
		Provider: p, limiter: p.Limiter(seed),
		network: rand.New(rand.NewPCG(seed, 1)), service: rand.New(rand.NewPCG(seed, 2)),
	}
}

// travelTime is how long the next request takes to arrive.
func (w *runningProvider) travelTime() time.Duration {
	return networkDelay + min(longestJitter, durationOf(networkJitter.Seconds()*w.network.ExpFloat64()))
}

// decideRequest decides about a request that arrives now. It returns what the client
// sees and when.
func (w *runningProvider) decideRequest(sent, now time.Duration) (governor.Outcome, time.Duration) {
	r := w.limiter.Admit(now)
	if !r.Pass {
		back := now + networkDelay + durationOf(0.02*w.network.Float64())
		return w.refusalOutcome(r), back
	}
	took := durationOf(w.Median.Seconds() * math.Exp(w.Spread*w.service.NormFloat64()))
	back := max(sent+min(max(took, minAnswerTime), maxAnswerTime), now+networkDelay) + r.Slow
	lot := w.service.Float64()
	if o, ok := w.limiter.(inProgressLimiter); ok {
		o.Occupy(back)
	}
	o := governor.Outcome{Kind: governor.Success, Quota: w.announcedQuota(r)}
	switch {
	case lot < w.Timeouts || back > sent+clientTimeout:
		return governor.Outcome{Kind: governor.Failed}, sent + clientTimeout
	case lot < w.Timeouts+w.Errors:
		o = governor.Outcome{Kind: governor.Failed}
	case lot < w.Timeouts+w.Errors+w.Missing:
		o.Kind = governor.Rejected
	}
	return o, back
}

func (w *runningProvider) refusalOutcome(r Ruling) governor.Outcome {
	if w.Cuts {
		return governor.Outcome{Kind: governor.Failed, Cut: true}
	}
	o := governor.Outcome{Kind: governor.Throttled, Quota: w.announcedQuota(r)}
	if (w.Tells || r.Tell) && !r.Hush {
		o.HasRetryAfter, o.RetryAfter = true, ceilSeconds(r.Wait)
	}
	return o
}

func (w *runningProvider) announcedQuota(r Ruling) governor.Quota {
	if !w.Announces || r.Limit == 0 {
		return governor.Quota{}
	}
	return governor.Quota{Known: true, Limit: r.Limit, Remaining: r.Left, Reset: ceilSeconds(r.Reset)}
}
