package governhttp

import (
	"context"
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

// admit waits until the governor admits the call. It returns the time of admission. It calls Next again after
// each sleep, because another response may have changed the pace.
//
// Only one call at a time sleeps for the pace; the others queue behind it. Many waiters cost no more than one and
// are admitted in order. A retry sleeps its own pause before it queues.
func (s *Sender) admit(ctx context.Context, call *governor.Call) (time.Time, Wait, error) {
	began := s.options.Now()
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
	for now := began; ; now = s.options.Now() {
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
			if err := acquireToken(ctx, s.turn); err != nil {
				return now, wait, err
			}
			queued = true
			continue
		}
		pause = false
		step := Wait{Source: wait.Source, For: d, ByProvider: s.isProviderWait(now, d)}
		wait.ByProvider = wait.ByProvider || step.ByProvider
		if s.options.Waiting != nil {
			s.options.Waiting(ctx, step)
		}
		if err := sleepContext(ctx, d); err != nil {
			return now, wait, err
		}
	}
}

// isProviderWait reports whether a wait of d reaches the instant that the provider asked for.
func (s *Sender) isProviderWait(now time.Time, d time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.askedUntil.After(now) && !now.Add(d).Before(s.askedUntil)
}

// acquireToken sends a token to the channel, in order of arrival. It returns the cause if the context ends first.
func acquireToken(ctx context.Context, tokens chan<- struct{}) error {
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

func sleepContext(ctx context.Context, d time.Duration) error {
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
