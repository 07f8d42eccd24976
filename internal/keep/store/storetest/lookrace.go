package storetest

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/pdpp-go/pdpp/internal/keep/store"
)

// numbered makes connections whose ids sort as they were made.
func numbered(t testing.TB, s store.Store, n int) (ids []string) {
	t.Helper()
	for i := range n {
		ids = append(ids, fmt.Sprintf("c%03d", i))
		connect(t, s, ids[i])
	}
	return ids
}

// testTakeRace: of several that take at once no two get the same connection, and
// whoever gets fewer than it wanted has left none.
func testTakeRace(t *testing.T, d shared) {
	stores := d.stores(t, 2)
	ids := numbered(t, stores[0], 120)
	const takers, limit = 6, 10
	for round := range 5 {
		now := Now.AddDate(0, 0, round) // what was held the day before is due again
		taken := make([][]string, takers)
		var wg sync.WaitGroup
		for w := range takers {
			wg.Go(func() {
				for {
					looks, err := stores[w%2].ClaimChecks(t.Context(), now, lookHold, limit)
					if err != nil {
						t.Error(err)
						return
					}
					taken[w] = append(taken[w], lookIDs(looks)...)
					if len(looks) < limit {
						return
					}
				}
			})
		}
		wg.Wait()
		all := slices.Concat(taken...)
		slices.Sort(all)
		same(t, all, ids)
	}
}

// testTouchRace: whoever touches while others take and put is seen by them, or
// leaves a connection that is to be looked at at once; and every touch is
// somebody's alone.
func testTouchRace(t *testing.T, d shared) {
	stores := d.stores(t, 3)
	ids := numbered(t, stores[0], 5)
	var wg sync.WaitGroup
	for w := range 2 {
		wg.Go(func() {
			for n := range 15 {
				if err := stores[w].MarkChanged(t.Context(), ids[(n+w)%5], ids[n%3]); err != nil { // not in the order of their names
					t.Error(err)
				}
			}
		})
	}
	acted := make([][]store.Check, 2)
	for w := range acted {
		wg.Go(func() {
			for range 15 {
				looks, err := stores[2-w].ClaimChecks(t.Context(), Now, lookHold, 100)
				if err != nil {
					t.Error(err)
				}
				acted[w] = append(acted[w], looks...)
				put := slices.Clone(looks)
				for i := range put {
					put[i].At = far
				}
				if err := stores[2-w].PutChecks(t.Context(), put); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	newest, given := map[string]int64{}, map[store.Check]bool{}
	for _, l := range append(slices.Concat(acted...), take(t, stores[0], Now)...) {
		if given[l] { // all are taken at one moment, so that two such looks are the same
			t.Errorf("connection %s: two got it at touch %d", l.ConnectionID, l.Touches)
		}
		given[l], newest[l.ConnectionID] = true, max(newest[l.ConnectionID], l.Touches)
	}
	for _, l := range postpone(t, stores[0], Now) {
		if l.Touches > newest[l.ConnectionID] {
			t.Errorf("connection %s: touch %d was lost", l.ConnectionID, l.Touches)
		}
	}
}

// testLookOrderRace: those that write the same connections in opposite orders
// wait for each other and never fail, and the last touch of each is for one of them.
func testLookOrderRace(t *testing.T, d shared) {
	stores := d.stores(t, 2)
	ids := numbered(t, stores[0], 150)
	const writers, rounds = 4, 10
	taken := make([][]store.Check, writers)
	var wg sync.WaitGroup
	for w := range writers {
		named := slices.Clone(ids)
		if w%2 == 1 {
			slices.Reverse(named)
		}
		var own []store.Check
		for _, id := range named {
			own = append(own, store.Check{ConnectionID: id, At: far})
		}
		wg.Go(func() {
			for range rounds {
				if err := stores[w/2].PutChecks(t.Context(), own); err != nil {
					t.Error(err)
				}
				if err := stores[w/2].MarkChanged(t.Context(), named...); err != nil {
					t.Error(err)
				}
				looks, err := stores[w/2].ClaimChecks(t.Context(), Now, lookHold, len(ids))
				if err != nil {
					t.Error(err)
				}
				taken[w] = append(taken[w], looks...)
			}
		})
	}
	wg.Wait()
	last := slices.DeleteFunc(append(slices.Concat(taken...), take(t, stores[0], Now)...), func(l store.Check) bool {
		return l.Touches != writers*rounds
	})
	found := lookIDs(last)
	slices.Sort(found)
	same(t, found, ids)
}
