package storetest

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

func testRunRequests(t *testing.T, s store.Store) {
	ctx := t.Context()
	_, err := s.RunRequest(ctx, "c")
	fails(t, err, store.ErrNotFound)
	fails(t, s.WithdrawRun(ctx, "c"), store.ErrNotFound)
	added, err := s.RequestRun(ctx, store.RunRequest{ConnectionID: "nowhere", RequestedAt: Now})
	fails(t, err, store.ErrNotFound)
	same(t, added, false)
	connect(t, s, "c")
	connect(t, s, "b")

	request := func(r store.RunRequest) bool {
		t.Helper()
		added, err := s.RequestRun(ctx, r)
		ok(t, err)
		return added
	}
	listed := func() []store.RunRequest {
		t.Helper()
		all, err := s.ListRunRequests(ctx, "")
		ok(t, err)
		return all
	}
	first := store.RunRequest{ConnectionID: "c", Trigger: store.TriggerManual, RecoveryOnly: true, RequestedAt: Now}
	same(t, request(first), true)
	same(t, request(store.RunRequest{ConnectionID: "c", Trigger: store.TriggerRetry, RequestedAt: Now.Add(-time.Hour)}),
		false)
	got, err := s.RunRequest(ctx, "c")
	ok(t, err)
	same(t, got, first) // the first one counts
	anyway := store.RunRequest{ConnectionID: "c", Trigger: store.TriggerManual, AskAnyway: true,
		RequestedAt: Now.Add(time.Minute)}
	same(t, request(anyway), true) // the owner's second request
	same(t, request(anyway), false)
	same(t, request(first), false)
	got, err = s.RunRequest(ctx, "c")
	ok(t, err)
	same(t, got, anyway)
	ok(t, s.WithdrawRun(ctx, "c"))
	same(t, request(first), true)
	earlier := store.RunRequest{ConnectionID: "b", Trigger: store.TriggerWebhook, RequestedAt: Now.Add(-time.Second)}
	same(t, request(earlier), true)
	same(t, listed(), []store.RunRequest{earlier, first})
	asked := func(id string) *time.Time {
		t.Helper()
		found, err := s.Evidence(ctx, evidence.Query{ConnectionIDs: []string{id}})
		ok(t, err)
		return found[0].RequestedAt
	}
	same(t, asked("c"), &first.RequestedAt)

	ok(t, s.WithdrawRun(ctx, "b"))
	fails(t, s.WithdrawRun(ctx, "b"), store.ErrNotFound)
	same(t, listed(), []store.RunRequest{first})

	// The start of any run fulfils it; a failed start leaves it.
	l := start(t, s, "c", "r1", Now)
	same(t, listed(), nil)
	same(t, asked("c"), (*time.Time)(nil))
	same(t, request(first), true)
	_, err = s.StartRun(ctx, runStart("c", "r2"), Now)
	fails(t, err, store.ErrRunActive)
	same(t, listed(), []store.RunRequest{first})
	finish(t, s, l, Now)
	same(t, listed(), []store.RunRequest{first})
	l = start(t, s, "c", "r3", Now)
	same(t, listed(), nil)
	finish(t, s, l, Now)
	testSingleRecords(t, s)
}

// testSingleRecords requests single records and a whole run: both are stored, and each is fulfilled only by a run of
// its kind.
func testSingleRecords(t *testing.T, s store.Store) {
	ctx := t.Context()
	ask := func(scope ...protocol.StreamScope) bool {
		t.Helper()
		added, err := s.RequestRun(ctx, store.RunRequest{ConnectionID: "c", Trigger: store.TriggerManual, Scope: scope,
			RequestedAt: Now})
		ok(t, err)
		return added
	}
	waiting := func() []protocol.StreamScope {
		t.Helper()
		r, err := s.RunRequest(ctx, "c")
		ok(t, err)
		return r.Scope
	}
	begin := func(run string, selected bool) {
		t.Helper()
		r := runStart("c", run)
		r.Selected = selected
		l, err := s.StartRun(ctx, r, Now)
		ok(t, err)
		finish(t, s, l, Now)
	}
	one := protocol.StreamScope{Name: Stream, Resources: []string{"b"}}
	same(t, ask(one), true)
	same(t, ask(one), false)
	same(t, ask(protocol.StreamScope{Name: Stream, Resources: []string{"a", "b"}},
		protocol.StreamScope{Name: "lists", Resources: []string{"x"}}), true)
	both := []protocol.StreamScope{{Name: Stream, Resources: []string{"a", "b"}},
		{Name: "lists", Resources: []string{"x"}}}
	same(t, waiting(), both)
	begin("s1", false) // a whole run fetches what is new, and not these
	same(t, waiting(), both)
	begin("s2", true)
	_, err := s.RunRequest(ctx, "c")
	fails(t, err, store.ErrNotFound)

	same(t, ask(), true)
	same(t, ask(one), true)
	same(t, ask(), false)
	begin("s3", true)
	same(t, waiting(), nil) // the whole run is still requested
	same(t, ask(one), true)
	begin("s4", false)
	same(t, waiting(), []protocol.StreamScope{one})
	same(t, ask(), true)
	begin("s5", false)
	begin("s6", true)
	_, err = s.RunRequest(ctx, "c")
	fails(t, err, store.ErrNotFound)
}

// testRequestRace checks that of many concurrent requests one is added. Starts in between allow the next.
func testRequestRace(t *testing.T, d shared) {
	stores := d.stores(t, 3)
	connect(t, stores[0], "c")
	for round := range 4 {
		var added atomic.Int64
		var wg sync.WaitGroup
		for i := range 9 {
			wg.Go(func() {
				one, err := stores[i%len(stores)].RequestRun(t.Context(),
					store.RunRequest{ConnectionID: "c", Trigger: store.TriggerManual, RequestedAt: Now})
				if err != nil {
					t.Error(err)
				}
				if one {
					added.Add(1)
				}
			})
		}
		wg.Wait()
		same(t, added.Load(), 1)
		same(t, checkOfConnection(t, stores[0], "c").ChangeCount, int64(round*3+1)) // a start and an end follow
		finish(t, stores[0], start(t, stores[0], "c", "r"+string(rune('0'+round)), Now), Now)
	}
}
