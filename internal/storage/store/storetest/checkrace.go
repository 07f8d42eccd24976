package storetest

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// numberedConnections creates connections with ids in the order of creation.
func numberedConnections(t testing.TB, s store.Store, n int) (ids []string) {
	t.Helper()
	for i := range n {
		ids = append(ids, fmt.Sprintf("c%03d", i))
		connect(t, s, ids[i])
	}
	return ids
}

// testClaimRace checks that no two concurrent callers claim the same connection, and that a caller that gets fewer
// than its limit has left none.
func testClaimRace(t *testing.T, d shared) {
	stores := d.stores(t, 2)
	ids := numberedConnections(t, stores[0], 120)
	const takers, limit = 6, 10
	for round := range 5 {
		now := Now.AddDate(0, 0, round) // claims of the day before are due again
		taken := make([][]string, takers)
		var wg sync.WaitGroup
		for w := range takers {
			wg.Go(func() {
				for {
					looks, err := stores[w%2].ClaimChecks(t.Context(), now, checkHold, limit)
					if err != nil {
						t.Error(err)
						return
					}
					taken[w] = append(taken[w], checkIDs(looks)...)
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

// testMarkChangedRace checks that a change during claims and puts is seen, or leaves a connection that is due at once;
// every change is claimed once.
func testMarkChangedRace(t *testing.T, d shared) {
	stores := d.stores(t, 3)
	ids := numberedConnections(t, stores[0], 5)
	var wg sync.WaitGroup
	for w := range 2 {
		wg.Go(func() {
			for n := range 15 {
				// not in the order of their names
				if err := stores[w].MarkChanged(t.Context(), ids[(n+w)%5], ids[n%3]); err != nil {
					t.Error(err)
				}
			}
		})
	}
	acted := make([][]store.DueCheck, 2)
	for w := range acted {
		wg.Go(func() {
			for range 15 {
				looks, err := stores[2-w].ClaimChecks(t.Context(), Now, checkHold, 100)
				if err != nil {
					t.Error(err)
				}
				acted[w] = append(acted[w], looks...)
				put := slices.Clone(looks)
				for i := range put {
					put[i].At = farFuture
				}
				if err := stores[2-w].PutChecks(t.Context(), put); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	newest, given := map[string]int64{}, map[store.DueCheck]bool{}
	for _, l := range append(slices.Concat(acted...), claimAllChecks(t, stores[0], Now)...) {
		if given[l] { // all are claimed at one moment, so two such checks are the same
			t.Errorf("connection %s: two got it at touch %d", l.ConnectionID, l.ChangeCount)
		}
		given[l], newest[l.ConnectionID] = true, max(newest[l.ConnectionID], l.ChangeCount)
	}
	for _, l := range postpone(t, stores[0], Now) {
		if l.ChangeCount > newest[l.ConnectionID] {
			t.Errorf("connection %s: touch %d was lost", l.ConnectionID, l.ChangeCount)
		}
	}
}

// testCheckOrderRace checks that concurrent writes in opposite orders wait for each other and never fail, and that the
// last change of each connection is claimed once.
func testCheckOrderRace(t *testing.T, d shared) {
	stores := d.stores(t, 2)
	ids := numberedConnections(t, stores[0], 150)
	const writers, rounds = 4, 10
	taken := make([][]store.DueCheck, writers)
	var wg sync.WaitGroup
	for w := range writers {
		named := slices.Clone(ids)
		if w%2 == 1 {
			slices.Reverse(named)
		}
		var own []store.DueCheck
		for _, id := range named {
			own = append(own, store.DueCheck{ConnectionID: id, At: farFuture})
		}
		wg.Go(func() {
			for range rounds {
				if err := stores[w/2].PutChecks(t.Context(), own); err != nil {
					t.Error(err)
				}
				if err := stores[w/2].MarkChanged(t.Context(), named...); err != nil {
					t.Error(err)
				}
				looks, err := stores[w/2].ClaimChecks(t.Context(), Now, checkHold, len(ids))
				if err != nil {
					t.Error(err)
				}
				taken[w] = append(taken[w], looks...)
			}
		})
	}
	wg.Wait()
	last := slices.DeleteFunc(append(slices.Concat(taken...), claimAllChecks(t, stores[0], Now)...),
		func(l store.DueCheck) bool {
			return l.ChangeCount != writers*rounds
		})
	found := checkIDs(last)
	slices.Sort(found)
	same(t, found, ids)
}
