package ratesim

import (
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

// EventKind is what happened in a run.
type EventKind uint8

const (
	EventWaits     EventKind = iota // a request was asked to wait
	EventDenied                     // a request was refused by our own side
	EventWithdrawn                  // an admitted request was abandoned before it left
	EventSends                      // a request left
	EventAnswered                   // a request came back
)

// RunEvent is one event of a run. Before and After are the interval around it.
type RunEvent struct {
	Kind          EventKind
	At            time.Duration
	Wait          time.Duration // of Waits and Denied
	Sent          time.Duration // of Answered: when its request left
	Outcome       governor.Outcome
	Reason        governor.StopReason
	Before, After time.Duration
}

func (r *run) notifyObserver(e RunEvent) {
	if r.Watch == nil {
		return
	}
	e.At = r.now
	if rate, ok := r.Governor.Rate(); ok {
		e.After = rate.Interval
	}
	if e.Kind != EventAnswered {
		e.Before = e.After
	}
	r.Watch(e)
}

// sampleInterval notes the interval at every step of the clock up to a time.
func (r *run) sampleInterval(to time.Duration) {
	if r.Sample <= 0 {
		return
	}
	rate, _ := r.Governor.Rate()
	for ; r.sampled <= min(to, r.Until); r.sampled += r.Sample {
		r.Samples = append(r.Samples,
			Sample{At: r.sampled, Interval: rate.Interval, Limit: r.world.limiter.RateAt(r.sampled)})
	}
}
