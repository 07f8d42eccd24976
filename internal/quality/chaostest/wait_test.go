package chaostest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// until asks again and again, and fails with what it waited for when the bound
// is reached. Bounds are generous: no verdict depends on the machine's speed.
func until(ctx context.Context, what string, bound time.Duration, holds func() (bool, error)) error {
	end := time.Now().Add(bound)
	for {
		ok, err := holds()
		switch {
		case ok && err == nil:
			return nil
		case time.Now().After(end) && err != nil:
			return fmt.Errorf("waited %v until %s: %w", bound, what, err)
		case time.Now().After(end):
			return fmt.Errorf("waited %v until %s", bound, what)
		}
		if !pause(ctx, 50*time.Millisecond) {
			return ctx.Err()
		}
	}
}

// pause waits, and reports false when ctx ends meanwhile.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// between is a random time.
func between(r *rand.Rand, from, to time.Duration) time.Duration {
	return from + time.Duration(r.Int64N(int64(to-from)))
}
