package ratesim

import (
	"fmt"
	"io"
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

// LatencyCrossing is how fast things are fetched from a provider that answers late, as a share of
// what an oracle with as many requests in flight as there may be fetches in that time.
type LatencyCrossing struct {
	Answers  time.Duration // how much later than usual they come
	One      float64       // percent with one request in flight
	Found    float64       // percent with a number that the governor finds out
	Lanes    int           // that number, at the end
	Refusals float64       // per thousand things fetched, with it
}

// maxCrossingLanes is how many requests may be in flight at a crossing.
const maxCrossingLanes = 16

// MeasureCrossings fetches n things each from providers of four a second that answer ever later.
func MeasureCrossings(n int) []LatencyCrossing {
	var all []LatencyCrossing
	for _, late := range []time.Duration{0, time.Second, 3 * time.Second} {
		run := func(lanes int) (RunResult, time.Duration, int) {
			g := governor.New("crossing", func(c *governor.Config) {
				c.Ceiling, c.MaxWait, c.Lanes = surveyCeiling, 0, lanes
			})
			o := Options{
				Provider: Provider{Median: 100 * time.Millisecond, Spread: 0.3, Limiter: func(uint64) Limiter {
					return &SlowProvider{Limiter: &TokenBucket{PerSecond: 4, Burst: 10}, By: late}
				}},
				Seed: 4, Governor: g, Requests: n, Workers: lanes,
			}
			r := Run(o)
			open, _ := g.Lanes()
			return r, Oracle(o, surveyCeiling), open
		}
		one, _, _ := run(1)
		many, best, open := run(maxCrossingLanes)
		all = append(all, LatencyCrossing{
			Answers: late, One: 100 * best.Seconds() / one.Elapsed.Seconds(),
			Found: 100 * best.Seconds() / many.Elapsed.Seconds(),
			Lanes: open, Refusals: 1000 * float64(many.Refusals) / float64(n),
		})
	}
	return all
}

// PrintCrossings writes them as a table in Markdown.
func PrintCrossings(w io.Writer, all []LatencyCrossing) error {
	if _, err := fmt.Fprint(w,
		"| answers later by | one lane % | lanes found % | lanes | per 1000 |\n|--:|--:|--:|--:|--:|\n"); err != nil {
		return err
	}
	for _, c := range all {
		if _, err := fmt.Fprintf(w, "| %s | %.1f | %.1f | %d | %.2f |\n", c.Answers, c.One, c.Found, c.Lanes,
			c.Refusals); err != nil {
			return err
		}
	}
	return nil
}
