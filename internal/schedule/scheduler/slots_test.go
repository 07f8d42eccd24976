package scheduler

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// One run waits for a place of its provider, others are sent away at once, and
// another provider's places are untouched.
func TestSlotsOfAProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slots{perProvider: 2}
		ctx := t.Context()
		first, ok := s.acquire(ctx, "slow")
		if _, again := s.acquire(ctx, "slow"); !ok || !again {
			t.Fatal("no places")
		}
		waited := make(chan bool)
		go func() {
			_, ok := s.acquire(ctx, "slow")
			waited <- ok
		}()
		synctest.Wait()
		began := time.Now()
		if _, ok := s.acquire(ctx, "slow"); ok || time.Since(began) != 0 {
			t.Errorf("a second one waits: %v, %v", ok, time.Since(began))
		}
		if _, ok := s.acquire(ctx, "quick"); !ok || s.count() != 3 {
			t.Errorf("another provider: %v, %d runs", ok, s.count())
		}
		first()
		first() // twice is once
		if !<-waited || s.count() != 3 {
			t.Errorf("the freed place was not taken: %d runs", s.count())
		}
		if _, ok := s.acquire(ctx, "slow"); ok || time.Since(began) != slotPatience {
			t.Errorf("after %v: %v", time.Since(began), ok)
		}
		stopped, cancel := context.WithCancel(ctx)
		cancel()
		if _, ok := s.acquire(stopped, "slow"); ok || time.Since(began) != slotPatience {
			t.Errorf("while stopping: %v after %v", ok, time.Since(began))
		}
	})
}
