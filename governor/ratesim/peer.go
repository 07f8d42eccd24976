package ratesim

import (
	"math/rand/v2"
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

// PeerPacer is another way to pace requests, to compare the governor with. Around each of them
// is what programs put around them: a refused request is repeated after the Retry-After
// that came with it, or after full jitter.
type PeerPacer interface {
	// Wait is how long the next request has to wait; zero lets it leave.
	Wait(now time.Duration) time.Duration
	// Sent and Seen report that a request left, and its outcome.
	Sent(now time.Duration)
	Seen(o governor.Outcome)
}

// NamedPeer is a way to pace and the name under which it is known.
type NamedPeer struct {
	Name string
	New  func(seed uint64) PeerPacer
}

// Peers returns the other ways to pace that need no library.
func Peers() []NamedPeer {
	return []NamedPeer{
		{"backoff with full jitter (AWS)", func(uint64) PeerPacer { return unpacedPeer{} }},
		{"adaptive throttling (Google SRE)", func(seed uint64) PeerPacer {
			return &adaptiveThrottle{random: rand.New(rand.NewPCG(seed, 5))}
		}},
		{"additive increase, halved (AIMD)", func(uint64) PeerPacer { return &additivePeer{rate: 1} }},
	}
}

// unpacedPeer sends whenever it may.
type unpacedPeer struct{}

func (unpacedPeer) Wait(time.Duration) time.Duration { return 0 }
func (unpacedPeer) Sent(time.Duration)               {}
func (unpacedPeer) Seen(governor.Outcome)            {}

// adaptiveThrottle refuses requests itself, the more of them the more were refused of late:
// chapter 21 of the book on site reliability engineering.
type adaptiveThrottle struct {
	random            *rand.Rand
	requests, accepts float64
	at                time.Duration
}

const (
	// throttleMemory is the mean age of what it counts.
	throttleMemory = time.Minute
	// throttleMultiplier is how many requests per accepted one it lets pass.
	throttleMultiplier = 2
	// localPause is how long a request waits that it refused.
	localPause = 100 * time.Millisecond
)

func (t *adaptiveThrottle) Wait(now time.Duration) time.Duration {
	keep := max(0, 1-(now-t.at).Seconds()/throttleMemory.Seconds())
	t.requests, t.accepts, t.at = t.requests*keep, t.accepts*keep, now
	if t.random.Float64() < (t.requests-throttleMultiplier*t.accepts)/(t.requests+1) {
		t.requests++
		return localPause
	}
	return 0
}

func (t *adaptiveThrottle) Sent(time.Duration) { t.requests++ }

func (t *adaptiveThrottle) Seen(o governor.Outcome) {
	if o.Kind != governor.Throttled {
		t.accepts++
	}
}

// additivePeer grows by one request per second with every second that goes well, and halves
// its rate after a refusal.
type additivePeer struct {
	rate float64
	last time.Duration
	sent bool
}

func (a *additivePeer) Wait(now time.Duration) time.Duration {
	if !a.sent {
		return 0
	}
	return max(0, a.last+durationOf(1/a.rate)-now)
}

func (a *additivePeer) Sent(now time.Duration) { a.last, a.sent = now, true }

func (a *additivePeer) Seen(o governor.Outcome) {
	switch o.Kind {
	case governor.Success:
		a.rate = min(a.rate+1/a.rate, 1/surveyCeiling.Seconds())
	case governor.Throttled:
		a.rate = max(a.rate/2, 0.1)
	}
}
