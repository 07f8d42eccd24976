package ratesim

import (
	"math/rand/v2"
	"time"

	"golang.org/x/time/rate"

	"github.com/pdpp-go/pdpp/governor"
)

// Peer is another way to pace requests, to compare the governor with. Around each of them
// is what programs put around them: a refused request is repeated after the Retry-After
// that came with it, or after full jitter.
type Peer interface {
	// Wait is how long the next request has to wait; zero lets it leave.
	Wait(now time.Duration) time.Duration
	// Sent and Seen tell that a request left, and what became of one.
	Sent(now time.Duration)
	Seen(o governor.Outcome)
}

// Peers are the others, by the names under which they are known.
func Peers() []struct {
	Name string
	New  func(seed uint64) Peer
} {
	return []struct {
		Name string
		New  func(seed uint64) Peer
	}{
		{"backoff with full jitter (AWS)", func(uint64) Peer { return unpaced{} }},
		{"golang.org/x/time/rate at 1/s", func(uint64) Peer { return newBucketed(1) }},
		{"golang.org/x/time/rate at 5/s", func(uint64) Peer { return newBucketed(5) }},
		{"adaptive throttling (Google SRE)", func(seed uint64) Peer {
			return &throttled{random: rand.New(rand.NewPCG(seed, 5))}
		}},
		{"additive increase, halved (AIMD)", func(uint64) Peer { return &additive{rate: 1} }},
	}
}

// unpaced sends whenever it may.
type unpaced struct{}

func (unpaced) Wait(time.Duration) time.Duration { return 0 }
func (unpaced) Sent(time.Duration)               {}
func (unpaced) Seen(governor.Outcome)            {}

// bucketed sends at a rate that somebody guessed.
type bucketed struct{ *rate.Limiter }

func newBucketed(perSecond float64) bucketed {
	return bucketed{rate.NewLimiter(rate.Limit(perSecond), 1)}
}

func (b bucketed) Wait(now time.Duration) time.Duration {
	if lack := 1 - b.TokensAt(Start.Add(now)); lack > roundoff {
		return seconds(lack/float64(b.Limit())) + tick
	}
	return 0
}

func (b bucketed) Sent(now time.Duration) { b.AllowN(Start.Add(now), 1) }
func (b bucketed) Seen(governor.Outcome)  {}

// throttled refuses requests itself, the more of them the more were refused of late:
// chapter 21 of the book on site reliability engineering.
type throttled struct {
	random            *rand.Rand
	requests, accepts float64
	at                time.Duration
}

const (
	// throttleMemory is the mean age of what it counts.
	throttleMemory = time.Minute
	// generous is how many requests per accepted one it lets pass.
	generous = 2
	// localPause is how long a request waits that it refused.
	localPause = 100 * time.Millisecond
)

func (t *throttled) Wait(now time.Duration) time.Duration {
	keep := max(0, 1-(now-t.at).Seconds()/throttleMemory.Seconds())
	t.requests, t.accepts, t.at = t.requests*keep, t.accepts*keep, now
	if t.random.Float64() < (t.requests-generous*t.accepts)/(t.requests+1) {
		t.requests++
		return localPause
	}
	return 0
}

func (t *throttled) Sent(time.Duration) { t.requests++ }

func (t *throttled) Seen(o governor.Outcome) {
	if o.Kind != governor.Throttled {
		t.accepts++
	}
}

// additive grows by one request per second with every second that goes well, and halves
// its rate after a refusal.
type additive struct {
	rate float64
	last time.Duration
	sent bool
}

func (a *additive) Wait(now time.Duration) time.Duration {
	if !a.sent {
		return 0
	}
	return max(0, a.last+seconds(1/a.rate)-now)
}

func (a *additive) Sent(now time.Duration) { a.last, a.sent = now, true }

func (a *additive) Seen(o governor.Outcome) {
	switch o.Kind {
	case governor.Success:
		a.rate = min(a.rate+1/a.rate, 1/surveyCeiling.Seconds())
	case governor.Throttled:
		a.rate = max(a.rate/2, 0.1)
	}
}
