package storetest

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

func testWorkers(t *testing.T, s store.Store) {
	ctx := t.Context()
	listed := func() []store.Worker {
		t.Helper()
		all, err := s.Workers(ctx)
		ok(t, err)
		return all
	}
	same(t, listed(), nil)
	ok(t, s.DropWorker(ctx, "nobody"))
	later := Now.Add(time.Second)
	b := store.Worker{ID: "b", Host: "harbour", PID: 42, Version: "1.2.3", Capabilities: []string{"network", "browser"},
		Slots: 4, StartedAt: Now, SeenAt: Now}
	a := store.Worker{ID: "a", StartedAt: Now, SeenAt: Now}
	ok(t, s.PutWorker(ctx, b))
	ok(t, s.PutWorker(ctx, a))
	same(t, listed(), []store.Worker{a, b})
	b = store.Worker{ID: "b", Host: "meadow", PID: 43, Version: "1.2.4", Capabilities: []string{"local"}, Slots: 8,
		Running: 3, Draining: true, StartedAt: later, SeenAt: later}
	ok(t, s.PutWorker(ctx, b))
	ok(t, s.DropWorker(ctx, "a"))
	same(t, listed(), []store.Worker{b})
}

func testLeasedRuns(t *testing.T, s store.Store) {
	listed := func() []store.LeasedRun {
		t.Helper()
		all, err := s.LeasedRuns(t.Context())
		ok(t, err)
		return all
	}
	same(t, listed(), nil)
	c := begin(t, s, "c", "r1")
	connect(t, s, "b")
	b := start(t, s, "b", "r2", Now.Add(-time.Second))
	finish(t, s, begin(t, s, "done", "r3"), Now)
	leased := func(l store.Lease, started time.Time) store.LeasedRun {
		return store.LeasedRun{Lease: l, ConnectorID: "example", Trigger: store.TriggerManual, StartedAt: started}
	}
	same(t, listed(), []store.LeasedRun{leased(b, Now.Add(-time.Second)), leased(c, Now)})
	finish(t, s, b, Now)
	same(t, listed(), []store.LeasedRun{leased(c, Now)})
}
