package governor_test

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/ratesim"
)

// A provider that breaks connections has its limit detected, however long that takes. A long successful flow does
// not make the governor forget it.
func TestLimitsThatCutConnectionsAreHeld(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		limiter ratesim.SlidingWindow
		within  time.Duration // for 3,000 requests
		cuts    int
	}{
		"one a second":           {ratesim.SlidingWindow{Limit: 1, Window: time.Second}, 75 * time.Minute, 40},
		"fifteen in ten seconds": {ratesim.SlidingWindow{Limit: 15, Window: 10 * time.Second}, 45 * time.Minute, 20},
		"fifty in ten seconds":   {ratesim.SlidingWindow{Limit: 50, Window: 10 * time.Second}, 12 * time.Minute, 20},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := ratesim.Provider{Cuts: true, Median: 80 * time.Millisecond, Spread: 0.3, Limiter: func(uint64) ratesim.Limiter {
				l := tc.limiter
				return &l
			}}
			r := ratesim.Run(
				ratesim.Options{
					Provider: p,
					Seed:     2,
					Requests: 3000,
					Governor: governor.New("acme", patient, func(c *governor.Config) {
						c.Ceiling = 100 * time.Millisecond
					}),
				},
			)
			if r.Elapsed > tc.within || r.Refusals > tc.cuts {
				t.Errorf(
					"3,000 things in %s with %d cut connections, want %s and %d at most",
					r.Elapsed,
					r.Refusals,
					tc.within,
					tc.cuts,
				)
			}
		})
	}
}
