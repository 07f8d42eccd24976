package ratesim

import (
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

// EventKind is what happened in a run.
type EventKind uint8

const (
	Waits     EventKind = iota // a request was asked to wait
	Denied                     // a request was refused by our own side
	Withdrawn                  // an admitted request was given up before it left
	Sends                      // a request left
	Answered                   // a request came back
)

// Event is one thing that happened. Before and After are the interval around it.
type Event struct {
	Kind          EventKind
	At            time.Duration
	Wait          time.Duration // of Waits and Denied
	Sent          time.Duration // of Answered: when its request left
	Outcome       governor.Outcome
	Reason        governor.StopReason
	Before, After time.Duration
}

func (r *run) tell(e Event) {
	if r.Watch == nil {
		return
	}
	e.At = r.now
	if rate, ok := r.Governor.Rate(); ok {
		e.After = rate.Interval
	}
	if e.Kind != Answered {
		e.Before = e.After
	}
	r.Watch(e)
}

// sample notes the interval at every step of the clock up to a time.
func (r *run) sample(to time.Duration) {
	if r.Sample <= 0 {
		return
	}
	rate, _ := r.Governor.Rate()
	for ; r.sampled <= min(to, r.Until); r.sampled += r.Sample {
		r.Samples = append(r.Samples, Sample{At: r.sampled, Interval: rate.Interval, Limit: r.world.limiter.Rate(r.sampled)})
	}
}
