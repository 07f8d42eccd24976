package main

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/ratesim"
)

// A guessed rate keeps its distance, and a guess above the limit is refused.
func TestGuessedRates(t *testing.T) {
	t.Parallel()
	for perSecond, refused := range map[float64]bool{1: false, 5: true} {
		var last time.Duration
		least := time.Duration(float64(time.Second)/perSecond) - time.Microsecond
		r := ratesim.Run(ratesim.Options{
			Provider: ratesim.Provider{Median: 50 * time.Millisecond, Spread: 0.1, Limiter: func(uint64) ratesim.Limiter {
				return &ratesim.FixedWindow{Limit: 30, Window: 10 * time.Second}
			}},
			Seed: 1, Requests: 300, Until: time.Hour, Peer: guessed(perSecond).New(1), Ceiling: 100 * time.Millisecond,
			Governor: governor.New("peer", func(c *governor.Config) { c.Discovery, c.Attempts, c.Breaker.Off = 0, 1000, true }),
			Watch: func(e ratesim.RunEvent) {
				if e.Kind != ratesim.EventSends {
					return
				}
				if last > 0 && e.At-last < least {
					t.Errorf("at %v a second two requests within %s", perSecond, e.At-last)
				}
				last = e.At
			},
		})
		if !r.Done || r.Refusals > 0 != refused {
			t.Errorf("at %v a second: done %t with %d refusals", perSecond, r.Done, r.Refusals)
		}
	}
}

func TestComparisonNamesTheLibrary(t *testing.T) {
	t.Parallel()
	if all := peers(); len(all) != len(ratesim.Peers())+2 || all[2].Name != "golang.org/x/time/rate at 5/s" {
		t.Errorf("%d peers, the third is %s", len(all), all[2].Name)
	}
}
