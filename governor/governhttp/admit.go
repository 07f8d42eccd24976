package governhttp

import (
	"context"
	"time"

	"pdpp/governor"
)

// admit waits until the governor lets the call pass and returns that instant.
// The governor is asked again after each sleep, because an answer to another
// request may have changed the pace meanwhile.
//
// Only one call at a time sleeps for the pace; the others queue behind it, so
// that many waiters cost no more than one and leave in the order they came. A
// repetition sleeps its own pause before it joins them.
func (s *Sender) admit(ctx context.Context, call *governor.Call) (time.Time, Wait, error) {
	began := s.o.Now()
	wait := Wait{Source: Preflight}
	pause := call.Attempts() > 0
	if pause {
		wait.Source = Retry
	}
	queued := false
	defer func() {
		if queued {
			<-s.turn
		}
	}()
	for now := began; ; now = s.o.Now() {
		if ctx.Err() != nil {
			return now, wait, context.Cause(ctx)
		}
		d, err := call.Next(now)
		switch {
		case err != nil:
			return now, wait, err
		case d <= 0 && ctx.Err() != nil:
			call.Withdraw()
			return now, wait, context.Cause(ctx)
		case d <= 0:
			wait.For = now.Sub(began)
			return now, wait, nil
		case !pause && !queued:
			if err := take(ctx, s.turn); err != nil {
				return now, wait, err
			}
			queued = true
			continue
		}
		pause = false
		step := Wait{Source: wait.Source, For: d, ByProvider: s.askedFor(now, d)}
		wait.ByProvider = wait.ByProvider || step.ByProvider
		if s.o.Waiting != nil {
			s.o.Waiting(ctx, step)
		}
		if err := sleep(ctx, d); err != nil {
			return now, wait, err
		}
	}
}

// askedFor tells whether a wait from now on reaches the instant that the
// provider asked for.
func (s *Sender) askedFor(now time.Time, d time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked.After(now) && !now.Add(d).Before(s.asked)
}

// take puts a token in, first come first served, unless the context ends first.
func take(ctx context.Context, tokens chan<- struct{}) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	select {
	case tokens <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
