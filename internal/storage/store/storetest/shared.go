package storetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// RunShared tests several stores over one database, as several processes would use it. Every test gets a fresh
// target: an empty one, or one that has all tables.
func RunShared(t *testing.T, empty, migrated func(t *testing.T) string, open Opener) {
	t.Run("OpenAtOnce", func(t *testing.T) {
		t.Parallel()
		testOpenAtOnce(t, shared{empty(t), open})
	})
	for name, test := range map[string]func(*testing.T, shared){
		"ConcurrentWriters": testConcurrentWriters,
		"StartRace":         testStartRace,
		"ManifestRace":      testManifestRace,
		"Takeover":          testSharedTakeover,
		"BusyNeighbour":     testBusyNeighbour,
		"RequestRace":       testRequestRace,
		"TakeRace":          testClaimRace,
		"TouchRace":         testMarkChangedRace,
		"LookOrderRace":     testCheckOrderRace,
		"ReclaimRace":       testAbandonRace,
		"AttentionRace":     testAttentionRace,
		"AttentionLate":     testAttentionLate,
		"SettingRace":       testSettingRace,
		"GrantUseRace":      testGrantUseRace,
		"DecisionRace":      testDecisionRace,
		"RedeemRace":        testRedeemRace,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, shared{migrated(t), open})
		})
	}
}

// shared is one database for several stores.
type shared struct {
	target string
	open   Opener
}

// stores opens n stores and closes them when the test ends.
func (d shared) stores(t *testing.T, n int) []store.Store {
	t.Helper()
	all := make([]store.Store, n)
	for i := range all {
		s, err := d.open(t.Context(), d.target)
		ok(t, err)
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		all[i] = s
	}
	return all
}

// testOpenAtOnce checks that the first process creates the schema, and all others find it.
func testOpenAtOnce(t *testing.T, d shared) {
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			s, err := d.open(t.Context(), d.target)
			if err != nil {
				t.Error(err)
				return
			}
			if err := s.CreateConnection(t.Context(),
				store.Connection{ID: fmt.Sprint("c", i), CreatedAt: Now, UpdatedAt: Now}); err != nil {
				t.Error(err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	all, err := d.stores(t, 1)[0].ListConnections(t.Context())
	ok(t, err)
	same(t, len(all), 4)
}

// testConcurrentWriters checks that writers of different connections wait for each other and never fail.
func testConcurrentWriters(t *testing.T, d shared) {
	stores := d.stores(t, 2)
	const writers, slices, size = 4, 15, 20
	var wg sync.WaitGroup
	for w := range writers {
		s, connection := stores[w%2], fmt.Sprint("c", w)
		l := begin(t, s, connection, "run-"+connection, titles)
		wg.Go(func() {
			for n := range slices {
				var part slice.Slice
				for i := range size {
					part.Records = append(part.Records, titled(fmt.Sprint(n, "-", i), "word", connection))
				}
				part.Gaps = []slice.Gap{missingGap(fmt.Sprint(n))}
				part.Cursors = []slice.Cursor{{Stream: Stream, Cursor: fmt.Appendf(nil, `%d`, n)}}
				if _, err := s.CommitSlice(t.Context(), l, part, Now); err != nil {
					t.Error(err)
					return
				}
				if _, err := s.RenewLease(t.Context(), l, ttl, Now); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for w := range writers {
		connection := fmt.Sprint("c", w)
		other := stores[(w+1)%2] // what one wrote, the other reads
		same(t, len(changes(t, other, connection)), slices*size)
		same(t, cursors(t, other, connection, ""), map[string]string{"items/": fmt.Sprint(slices - 1)})
		gaps, err := other.ListGaps(t.Context(), store.GapQuery{ConnectionID: connection})
		ok(t, err)
		same(t, len(gaps), slices)
	}
}

// testStartRace checks that of many processes that start a run, one does.
func testStartRace(t *testing.T, d shared) {
	stores := d.stores(t, 3)
	connect(t, stores[0], "c")
	for round := range 3 {
		errs := make([]error, 6)
		leases := make([]store.Lease, len(errs))
		var wg sync.WaitGroup
		for i := range errs {
			wg.Go(func() {
				leases[i], errs[i] = stores[i%len(stores)].StartRun(t.Context(), runStart("c", fmt.Sprint(round, "-", i)), Now)
			})
		}
		wg.Wait()
		var winner *store.Lease
		for i, err := range errs {
			if err == nil && winner != nil {
				t.Fatalf("%s and %s both started", winner.RunID, leases[i].RunID)
			}
			if err == nil {
				winner = &leases[i]
			}
		}
		for _, err := range errs {
			var active *store.ActiveRunError
			if err != nil && (!errors.As(err, &active) || active.RunID != winner.RunID) {
				t.Fatalf("error is %v, want an *ActiveRunError that names %s", err, winner.RunID)
			}
		}
		same(t, winner.Generation, int64(round+1))
		finish(t, stores[0], *winner, Now)
	}
}

// testManifestRace checks that processes that register the same manifest agree on its generation.
func testManifestRace(t *testing.T, d shared) {
	stores := d.stores(t, 2)
	for _, body := range []string{`{"v":1}`, `{"v":2}`} {
		generations := make([]int64, 4)
		var wg sync.WaitGroup
		for i := range generations {
			wg.Go(func() {
				var err error
				if generations[i], err = stores[i%2].PutManifest(t.Context(), "example", []byte(body), Now); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		for _, g := range generations {
			same(t, g, generations[0])
		}
	}
}

// testSharedTakeover checks that the run of one process is fenced off by another, while both write.
func testSharedTakeover(t *testing.T, d shared) {
	stores := d.stores(t, 2)
	old, fresh := stores[0], stores[1]
	l := begin(t, old, "c", "r1")
	lost := make(chan int, 1)
	go func() {
		for n := 0; ; n++ {
			_, err := old.CommitSlice(t.Context(), l, slice.Slice{
				Records: []slice.Record{live("a", fmt.Sprint(n))},
				Cursors: []slice.Cursor{{Stream: Stream, Cursor: fmt.Appendf(nil, `%d`, n)}},
			}, Now)
			if err != nil {
				if !errors.Is(err, store.ErrLeaseLost) {
					t.Error(err)
				}
				lost <- n
				return
			}
		}
	}()
	m := start(t, fresh, "c", "r2", Now.Add(ttl))
	before := everything(t, fresh, "c")
	n := <-lost
	same(t, everything(t, fresh, "c"), before)
	want := map[string]string{}
	if n > 0 {
		want["items/"] = fmt.Sprint(n - 1)
	}
	same(t, cursors(t, old, "c", ""), want)
	put(t, fresh, m, live("a", "new"))
}

// testBusyNeighbour checks that a process that commits continuously does not exclude others.
func testBusyNeighbour(t *testing.T, d shared) {
	stores := d.stores(t, 2)
	l := begin(t, stores[0], "busy", "r1")
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			var records []slice.Record
			for i := range 200 {
				records = append(records, live(fmt.Sprint("k", i), fmt.Sprint(n)))
			}
			if _, err := stores[0].CommitSlice(t.Context(), l, slice.Slice{Records: records}, Now); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	for i := range 10 {
		connect(t, stores[1], fmt.Sprint("c", i))
	}
	close(stop)
	<-stopped
}
