package ratesim

import (
	"testing"
	"time"

	"pdpp/governor"
)

// Runs that share a bucket deliver together what one of them would alone.
func TestRunsShareABucket(t *testing.T) {
	t.Parallel()
	p := Catalogue()[0]
	begin := func(seed uint64) *governor.Governor {
		return governor.New(p.Name, func(c *governor.Config) { c.Ceiling, c.MaxWait, c.Seed = surveyCeiling, 0, seed })
	}
	one := Run(Options{Provider: p, Seed: 1, Governor: begin(1), Requests: 1000})
	for _, n := range []int{2, 4, 8} {
		g := Group{Provider: p, Seed: 1, Delay: time.Second, Until: one.Elapsed}
		for i := range n {
			g.Members = append(g.Members, Member{Governor: begin(uint64(i)), Skew: time.Duration(i) * 5 * time.Millisecond})
		}
		got, refused := 0, 0
		for i, r := range RunGroup(g) {
			if got, refused = got+r.Successes, refused+r.Refusals; r.Successes == 0 {
				t.Errorf("run %d of %d fetches nothing", i, n)
			}
		}
		if got < 900 || refused > 2*one.Refusals+2 {
			t.Errorf("%d runs fetch %d and are refused %d times; one fetches %d and is %d times", n, got, refused, one.Successes, one.Refusals)
		}
	}
}
