package governhttp

import (
	"context"
	"errors"
	"sync"
	"time"

	"pdpp/governor"
)

// SenderOptions adjust a sender; the zero value works. With more than one call
// in flight its functions are called from several goroutines at once.
type SenderOptions struct {
	// InFlight is how many calls are at work at once; zero means one. Where the governor
	// finds out their number (Config.Lanes), it is that one instead.
	InFlight int
	// Waiting is told before each sleep, so that a run can say why it is quiet.
	Waiting func(context.Context, Wait)
	// Quiet is told, as soon as that is known and before anything waits for it, that
	// the provider is to be left alone for longer than was known.
	Quiet func(context.Context, Quiet)
	// Probe is told the waits of each transmission when its attempt is over, those
	// of senders within the attempt included.
	Probe func(Trail)
	// Now reads the clock; it must advance as timers do. Nil means time.Now.
	Now func() time.Time
}

// Sender is the request path to one provider, whatever the transport. It is the
// only thing that waits for a provider. It owns no goroutine and is safe for
// concurrent use.
type Sender struct {
	g     *governor.Governor
	o     SenderOptions
	slots chan struct{} // the bulkhead: one token for each call at work
	turn  chan struct{} // held by the one call that sleeps for the pace

	mu     sync.Mutex
	closed int       // tokens that are in slots because the governor keeps their lanes closed
	asked  time.Time // until when the provider asked for quiet
	quiet  time.Time // until when it is to be left alone, as Quiet was told
}

// Quiet is how long a provider is to be left alone, and whether it said so; else
// that was searched out.
type Quiet struct {
	Provider   string
	For        time.Duration
	ByProvider bool
}

// NewSender makes the request path that g governs. Senders of one provider must
// share the governor, or better be one sender.
func NewSender(g *governor.Governor, o SenderOptions) *Sender {
	if o.Now == nil {
		o.Now = time.Now
	}
	open, most := g.Lanes()
	if most > 0 {
		o.InFlight = most
	}
	s := &Sender{
		g: g, o: o,
		slots:  make(chan struct{}, max(1, o.InFlight)),
		turn:   make(chan struct{}, 1),
		closed: most - open,
	}
	for range s.closed {
		s.slots <- struct{}{}
	}
	return s
}

// leave gives the slot of a call that is over back, as far as the governor has lanes open.
func (s *Sender) leave() {
	open, most := s.g.Lanes()
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.closed++; s.closed > most-open; s.closed-- {
		<-s.slots
	}
}

// Begin lets the wait for the first request count from now on; see Governor.Begin.
func (s *Sender) Begin() { s.g.Begin(s.o.Now()) }

// Do sends through attempt until the outcome is final. The attempt makes exactly
// one transmission; Sent of its outcome is filled in here.
//
// The error is what a final attempt said, *Stopped when no final answer came, or
// the cause of the context's end. A denial comes at once. A call within an
// attempt of this very sender is a request of its own in the same slot.
func (s *Sender) Do(ctx context.Context, attempt func(context.Context) (governor.Outcome, error)) error {
	if !pathOf(ctx).within(s) {
		if err := take(ctx, s.slots); err != nil {
			return err
		}
		defer s.leave()
	}
	call := s.g.Call()
	last := Stopped{Provider: s.g.Name()}
	for {
		sent, wait, err := s.admit(ctx, &call)
		if err != nil {
			return last.denied(err)
		}
		trying, p := s.begin(ctx, call.Attempts(), wait)
		outcome, err := attempt(trying)
		if s.o.Probe != nil {
			s.o.Probe(p.soFar())
		}
		if err != nil && ctx.Err() != nil {
			call.Withdraw() // cut short by the caller, it says nothing about the provider
			return context.Cause(ctx)
		}
		outcome.Sent = sent
		again, why := s.observe(&call, outcome, &last)
		s.announce(ctx, outcome)
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

// observe passes the outcome on and keeps of it what a stop would have to tell.
func (s *Sender) observe(call *governor.Call, o governor.Outcome, last *Stopped) (again bool, why governor.Reason) {
	now := s.o.Now()
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
		if until := now.Add(last.RetryAfter); until.After(s.asked) {
			s.asked = until
		}
		s.mu.Unlock()
	}
	if why == governor.CircuitOpen {
		if left := s.circuitLeft(now); left > last.RetryAfter {
			last.RetryAfter, last.ByProvider = left, false
		}
	}
	return again, why
}

// announce tells of a quiet that an answer brought.
func (s *Sender) announce(ctx context.Context, o governor.Outcome) {
	if s.o.Quiet == nil || o.Kind != governor.Throttled && !(o.Quota.Known && o.Quota.Remaining == 0) {
		return
	}
	now := s.o.Now()
	left, asked := s.g.Quiet(now)
	if o.HasRetryAfter && o.RetryAfter > left { // pacing may be off
		left, asked = o.RetryAfter, true
	}
	s.mu.Lock()
	later := now.Add(left).After(s.quiet)
	if later {
		s.quiet = now.Add(left)
	}
	s.mu.Unlock()
	if left > 0 && later {
		s.o.Quiet(ctx, Quiet{Provider: s.g.Name(), For: left, ByProvider: asked})
	}
}

// circuitLeft is how long the circuit still denies requests.
func (s *Sender) circuitLeft(now time.Time) time.Duration {
	call := s.g.Call()
	wait, err := call.Next(now)
	var denied *governor.Denied
	switch {
	case errors.As(err, &denied):
		return denied.In
	case wait <= 0:
		call.Withdraw() // the circuit closed meanwhile
	}
	return wait
}

// denied completes a stop with the governor's refusal to send. Another error,
// the context's, is passed on.
func (s *Stopped) denied(err error) error {
	var d *governor.Denied
	if !errors.As(err, &d) {
		return err
	}
	s.Reason, s.RetryAfter, s.ByProvider = d.Reason, d.In, d.Reason == ""
	return s
}

// Rest waits out a denial on behalf of a caller that decided to be patient.
func (s *Sender) Rest(ctx context.Context, d time.Duration) error {
	w := Wait{Source: Rest, For: d}
	if d > 0 && s.o.Waiting != nil {
		s.o.Waiting(ctx, w)
	}
	if err := sleep(ctx, d); err != nil {
		return err
	}
	pathOf(ctx).add(w)
	return nil
}
