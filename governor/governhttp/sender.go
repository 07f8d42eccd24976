package governhttp

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

// SenderOptions configures a Sender. The zero value works. With more than one call in flight, the functions are
// called from several goroutines at once.
type SenderOptions struct {
	// InFlight is the maximum number of concurrent calls. Zero means one. With governor.Config.Lanes the governor
	// decides instead.
	InFlight int
	// Waiting is called before each sleep, so that a run can report why it waits.
	Waiting func(context.Context, Wait)
	// Quiet is called as soon as a response requires a longer pause than was known, before anything waits for it.
	Quiet func(context.Context, Quiet)
	// Probe is called with the waits of each transmission when its attempt is over, including those of senders
	// used inside the attempt.
	Probe func(Trail)
	// Now returns the current time; it must advance like timers do. Nil means time.Now.
	Now func() time.Time
}

// Sender sends requests to one provider over any transport. It is the only component that waits for a provider.
// It starts no goroutine and is safe for concurrent use.
type Sender struct {
	governor *governor.Governor
	options  SenderOptions
	slots    chan struct{} // the bulkhead: one token per active call
	turn     chan struct{} // held by the one call that sleeps for the pace

	mu          sync.Mutex
	closedLanes int       // tokens in slots that block closed lanes
	askedUntil  time.Time // until when the provider asked to wait
	quietUntil  time.Time // until when to pause, as last reported to Quiet
}

// Quiet describes a pause. ByProvider is true if the provider set its length; otherwise the governor chose it.
type Quiet struct {
	Provider   string
	For        time.Duration
	ByProvider bool
}

// NewSender returns a sender that g governs. All senders to one provider must share the governor.
func NewSender(g *governor.Governor, o SenderOptions) *Sender {
	if o.Now == nil {
		o.Now = time.Now
	}
	open, most := g.Lanes()
	if most > 0 {
		o.InFlight = most
	}
	s := &Sender{
		governor: g, options: o,
		slots:       make(chan struct{}, max(1, o.InFlight)),
		turn:        make(chan struct{}, 1),
		closedLanes: most - open,
	}
	for range s.closedLanes {
		s.slots <- struct{}{}
	}
	return s
}

// releaseSlot returns the slot of a finished call, unless the governor has closed that lane.
func (s *Sender) releaseSlot() {
	open, most := s.governor.Lanes()
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.closedLanes++; s.closedLanes > most-open; s.closedLanes-- {
		<-s.slots
	}
}

// Begin starts the wait before the first request; see governor.Governor.Begin.
func (s *Sender) Begin() { s.governor.Begin(s.options.Now()) }

// Do calls attempt until the outcome is final. Each call of attempt must make exactly one transmission. Do sets
// the Sent member of its outcome.
//
// The error is that of the final attempt, *Stopped if there was no final response, or the cause of the context's
// end. A denial is returned at once. A call of Do inside an attempt of the same sender is a separate request in
// the same slot.
func (s *Sender) Do(ctx context.Context, attempt func(context.Context) (governor.Outcome, error)) error {
	if !waitPathOf(ctx).contains(s) {
		if err := acquireToken(ctx, s.slots); err != nil {
			return err
		}
		defer s.releaseSlot()
	}
	call := s.governor.Call()
	last := Stopped{Provider: s.governor.Name()}
	for {
		sent, wait, err := s.admit(ctx, &call)
		if err != nil {
			return last.withDenial(err)
		}
		trying, p := s.startPath(ctx, call.Attempts(), wait)
		outcome, err := attempt(trying)
		if s.options.Probe != nil {
			s.options.Probe(p.snapshot())
		}
		if err != nil && ctx.Err() != nil {
			call.Withdraw() // canceled by the caller, so the outcome carries no information
			return context.Cause(ctx)
		}
		outcome.Sent = sent
		again, why := s.observe(&call, outcome, &last)
		s.announceQuiet(ctx, outcome)
		if !again {
			if outcome.Kind != governor.Throttled && outcome.Kind != governor.Failed {
				return err
			}
			last.Reason, last.Err = why, err
			return &last
		}
		last.Err = err
	}
}

// observe reports the outcome to the governor and stores in last what a Stopped error needs.
func (s *Sender) observe(call *governor.Call, o governor.Outcome, last *Stopped) (again bool, why governor.StopReason) {
	now := s.options.Now()
	again, why = call.Observe(now, o)
	last.Kind, last.Attempts, last.RetryAfter, last.ByProvider = o.Kind, call.Attempts(), 0, false
	switch {
	case o.HasRetryAfter:
		last.RetryAfter = o.RetryAfter
	case o.Quota.Known && o.Quota.Remaining == 0:
		last.RetryAfter = o.Quota.Reset
	}
	if last.RetryAfter > 0 {
		last.ByProvider = true
		s.mu.Lock()
		if until := now.Add(last.RetryAfter); until.After(s.askedUntil) {
			s.askedUntil = until
		}
		s.mu.Unlock()
	}
	if why == governor.CircuitOpen {
		if left := s.circuitTimeLeft(now); left > last.RetryAfter {
			last.RetryAfter, last.ByProvider = left, false
		}
	}
	return again, why
}

// announceQuiet reports a pause that a response requires.
func (s *Sender) announceQuiet(ctx context.Context, o governor.Outcome) {
	if s.options.Quiet == nil || o.Kind != governor.Throttled && !(o.Quota.Known && o.Quota.Remaining == 0) {
		return
	}
	now := s.options.Now()
	left, asked := s.governor.Quiet(now)
	if o.HasRetryAfter && o.RetryAfter > left { // pacing may be off
		left, asked = o.RetryAfter, true
	}
	s.mu.Lock()
	later := now.Add(left).After(s.quietUntil)
	if later {
		s.quietUntil = now.Add(left)
	}
	s.mu.Unlock()
	if left > 0 && later {
		s.options.Quiet(ctx, Quiet{Provider: s.governor.Name(), For: left, ByProvider: asked})
	}
}

// circuitTimeLeft returns how long the circuit still denies requests.
func (s *Sender) circuitTimeLeft(now time.Time) time.Duration {
	call := s.governor.Call()
	wait, err := call.Next(now)
	var denied *governor.DeniedError
	switch {
	case errors.As(err, &denied):
		return denied.In
	case wait <= 0:
		call.Withdraw() // the circuit has closed in the meantime
	}
	return wait
}

// withDenial completes a Stopped error with the governor's denial. It returns other errors, those of the context,
// unchanged.
func (s *Stopped) withDenial(err error) error {
	var d *governor.DeniedError
	if !errors.As(err, &d) {
		return err
	}
	s.Reason, s.RetryAfter, s.ByProvider = d.Reason, d.In, d.Reason == ""
	return s
}

// Rest waits for the end of a denial, for callers that choose to.
func (s *Sender) Rest(ctx context.Context, d time.Duration) error {
	w := Wait{Source: Rest, For: d}
	if d > 0 && s.options.Waiting != nil {
		s.options.Waiting(ctx, w)
	}
	if err := sleepContext(ctx, d); err != nil {
		return err
	}
	waitPathOf(ctx).add(w)
	return nil
}
