package governhttp

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

// With Config.Lanes a sender has one active call, then more, and never more than the maximum.
func TestSenderFollowsTheLanes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newWideRig(1, func(c *governor.Config) { c.Lanes = 4 })
		var atWork []int
		now := 0
		var all sync.WaitGroup
		for range 200 {
			all.Go(func() {
				_ = r.Do(t.Context(), func(context.Context) (governor.Outcome, error) {
					r.keep(func() { now++; atWork = append(atWork, now) })
					time.Sleep(5 * time.Second)
					r.keep(func() { now-- })
					return success, nil
				})
			})
		}
		all.Wait()
		widest := 0
		for i, n := range atWork {
			if widest = max(widest, n); i < 8 && n != 1 {
				t.Fatalf("%d at work for request %d", n, i)
			}
		}
		if widest != 4 || len(atWork) != 200 {
			t.Errorf("%d at work at most, %d requests", widest, len(atWork))
		}
		if len(r.slots) != 0 || r.closedLanes != 0 {
			t.Errorf("%d slots taken and %d closed when all is done", len(r.slots), r.closedLanes)
		}
		// Refusals close lanes.
		for range 3 {
			_ = r.run(
				t.Context(),
				governor.Outcome{Kind: governor.Throttled, HasRetryAfter: true, RetryAfter: time.Second},
				success,
			)
		}
		if open, most := r.g.Lanes(); open != 1 || most != 4 || r.closedLanes != 3 || len(r.slots) != 3 {
			t.Errorf("%d of %d lanes open, %d of %d slots closed", open, most, r.closedLanes, len(r.slots))
		}
	})
}
