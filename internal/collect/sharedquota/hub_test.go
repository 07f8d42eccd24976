package sharedquota

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
	"github.com/pdpp-go/pdpp/protocol"
)

const ttl = 20 * time.Second

// world is a store with connections, and a clock.
type world struct {
	*testing.T
	store store.Store
	key   credential.Key
	now   time.Time
	runs  int
	reads int
}

func newWorld(t *testing.T) *world {
	t.Helper()
	st, err := sqlite.Open(t.Context(), sqlitetest.NewDatabase(t, filepath.Join(t.TempDir(), "pdpp.db")), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	key, err := credential.LoadKey(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &world{T: t, store: st, key: key, now: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}
}

func (w *world) ok(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// hub is one process.
func (w *world) hub() *Hub {
	return &Hub{Store: counted{w.store, &w.reads}, Key: w.key, Host: "harbour", Now: func() time.Time { return w.now }}
}

// counted counts how often the store is asked who draws on what.
type counted struct {
	store.Store
	reads *int
}

func (c counted) Allowances(ctx context.Context, keys []string, now time.Time) ([]store.Allowance, error) {
	*c.reads++
	return c.Store.Allowances(ctx, keys, now)
}

// run is a run of a process that draws on an allowance.
type run struct {
	store.Lease
	runner.QuotaMember
	hub   *Hub
	part  runner.QuotaShare
	heard []protocol.AllowanceNews
}

// join starts a run of a connection of its own and lets it draw on the account.
func (w *world) join(h *Hub, account string) *run {
	w.Helper()
	w.runs++
	id := fmt.Sprint("c", w.runs)
	w.ok(w.store.CreateConnection(w.Context(),
		store.Connection{ID: id, ConnectorID: "example", Status: store.ConnectionActive, SourceKind: store.SourceAccount,
			CreatedAt: w.now, UpdatedAt: w.now}))
	r := &run{hub: h}
	var err error
	r.Lease, err = w.store.StartRun(w.Context(),
		store.RunStart{RunID: "run of " + id, ConnectionID: id, ConnectorID: "example", Trigger: store.TriggerManual,
			Holder: fmt.Sprintf("%p", h), TTL: ttl}, w.now)
	w.ok(err)
	r.QuotaMember, r.part, err = h.ForRun(r.Lease).Join(w.Context(),
		runner.QuotaClaim{Provider: "notes", Account: account}, func(p runner.QuotaShare) {
			r.part, r.heard = p, append(r.heard, p.News...)
		})
	w.ok(err)
	return r
}

func (w *world) finish(r *run) {
	w.Helper()
	r.Leave(w.Context())
	w.ok(w.store.FinishRun(w.Context(), r.Lease, store.RunOutcome{Status: store.RunSucceeded}, w.now))
}

// look is what a scheduler has every process do.
func (w *world) look(hubs ...*Hub) {
	w.Helper()
	for _, h := range hubs {
		signals, err := w.store.Signals(w.Context(), w.now)
		w.ok(err)
		w.ok(h.Refresh(w.Context(), signals.Sharing))
	}
}

// Runs of one process hear each other at once and ask the store nothing; another account is another allowance.
func TestRunsOfOneProcess(t *testing.T) {
	w := newWorld(t)
	h := w.hub()
	a := w.join(h, "ann")
	w.look(h)
	b, other := w.join(h, "ann"), w.join(h, "bob")
	if diff := cmp.Diff([]runner.QuotaShare{{Runs: 2}, {Runs: 2, Place: 1}, {Runs: 1}},
		[]runner.QuotaShare{a.part, b.part, other.part}); diff != "" {
		t.Fatal(diff)
	}
	b.Publish(protocol.Numbers{"at_ms": 1}, nil)
	if diff := cmp.Diff([]protocol.AllowanceNews{{From: 2, Runs: 2, Place: 1, Numbers: protocol.Numbers{"at_ms": 1}}},
		a.heard); diff != "" {
		t.Error(diff)
	}
	c := w.join(h, "ann") // gets the news from before it joined
	if diff := cmp.Diff([]protocol.AllowanceNews{{From: 2, Runs: 3, Place: 1, Numbers: protocol.Numbers{"at_ms": 1}}},
		c.part.News); diff != "" {
		t.Error(diff)
	}
	w.look(h)
	if w.reads != 0 {
		t.Errorf("the store was asked %d times", w.reads)
	}
	a.Publish(nil, protocol.Numbers{"interval_ms": 250})
	w.finish(a)
	if b.part.Place != 0 || b.part.Runs != 2 || c.part.Place != 1 || len(other.heard) > 0 {
		t.Errorf("after an end: %+v %+v, and of another account %+v", b.part, c.part, other.heard)
	}
	w.finish(b)
	w.finish(c)
	if late := w.join(w.hub(), "ann"); late.part.Runs != 1 || late.part.Learned["interval_ms"] != 250 {
		t.Errorf("a later run has %+v", late.part)
	}
	if _, _, err := h.ForRun(other.Lease).Join(t.Context(), runner.QuotaClaim{Provider: "notes", Account: "bob"},
		func(runner.QuotaShare) {}); err == nil {
		t.Error("a run draws on one allowance twice")
	}
}

// Runs of several processes get each other's news through the store. The share of a dead process is freed when its
// lease ends.
func TestRunsOfSeveralProcesses(t *testing.T) {
	w := newWorld(t)
	h, far := w.hub(), w.hub()
	a, b := w.join(h, "ann"), w.join(far, "ann")
	if a.part.Runs != 1 || b.part.Runs != 2 || b.part.Place != 1 {
		t.Fatalf("%+v, %+v", a.part, b.part)
	}
	w.look(h, far)
	if a.part.Runs != 2 || a.part.Place != 0 {
		t.Errorf("the first has not heard of the second: %+v", a.part)
	}
	b.Publish(protocol.Numbers{"at_ms": 1}, nil)
	w.look(far, h, h)
	if diff := cmp.Diff([]protocol.AllowanceNews{{From: 2, Runs: 2, Place: 1, Numbers: protocol.Numbers{"at_ms": 1}}},
		a.heard); diff != "" {
		t.Error(diff) // once
	}
	// The other process is killed without a trace in the store.
	w.now = w.now.Add(ttl - time.Second)
	_, err := w.store.RenewLease(t.Context(), a.Lease, ttl, w.now)
	w.ok(err)
	if w.look(h); a.part.Runs != 2 {
		t.Errorf("a run with a lease has lost its part: %+v", a.part)
	}
	w.now = w.now.Add(2 * time.Second)
	if w.look(h); a.part.Runs != 1 {
		t.Errorf("the part of a dead run did not come back: %+v", a.part)
	}
	_, err = w.store.AbandonExpiredRuns(t.Context(), w.now, 10)
	w.ok(err)
	reads := w.reads
	w.look(h)
	if w.look(h); w.reads > reads+1 {
		t.Error("the store is still asked by a run that is alone")
	}
}

// After any order of joinings, ends, deaths and looks, and one look of all, the parts of the runs that live are 0 to
// n-1 of n.
func TestPartsAreWhole(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	w := newWorld(t)
	hubs := []*Hub{w.hub(), w.hub(), w.hub()}
	var runs []*run
	for range 120 {
		at := random.IntN(len(hubs))
		switch what := random.IntN(10); {
		case what < 4 || len(runs) == 0:
			runs = append(runs, w.join(hubs[at], "ann"))
		case what < 7:
			i := random.IntN(len(runs))
			w.finish(runs[i])
			runs = slices.Delete(runs, i, i+1)
		case what < 9:
			w.look(hubs[at])
		default: // a process is killed, and another takes its place; its leases end
			dead := hubs[at]
			hubs[at] = w.hub()
			w.now = w.now.Add(ttl)
			runs = slices.DeleteFunc(runs, func(r *run) bool { return r.hub == dead })
			for _, r := range runs {
				_, err := w.store.RenewLease(t.Context(), r.Lease, ttl, w.now)
				w.ok(err)
			}
		}
		w.look(hubs...)
		places := make([]int, 0, len(runs))
		for _, r := range runs {
			if r.part.Runs != len(runs) {
				t.Fatalf("one of %d runs holds them to be %d", len(runs), r.part.Runs)
			}
			places = append(places, r.part.Place)
		}
		slices.Sort(places)
		for i, p := range places {
			if i != p {
				t.Fatalf("the places are %v", places)
			}
		}
	}
}

// Keys of quotas reveal nothing, and are equal only for the same account and the same secret key.
func TestNamesTellNothing(t *testing.T) {
	w := newWorld(t)
	h := w.hub()
	names := map[string]bool{}
	for _, c := range []runner.QuotaClaim{{Provider: "notes", Account: "ann"}, {Provider: "notes", Account: "bob"},
		{Provider: "pages", Account: "ann"}, {Provider: "notes"}, {Provider: "notes", Account: "harbour"}} {
		name := h.quotaKey(c)
		if names[name] || name != w.hub().quotaKey(c) || len(name) != 64 || strings.Contains(name, "ann") {
			t.Errorf("%+v is called %s", c, name)
		}
		names[name] = true
	}
	keyless := &Hub{Store: w.store, Now: h.Now}
	if _, _, err := keyless.ForRun(store.Lease{}).Join(t.Context(), runner.QuotaClaim{Provider: "notes", Account: "ann"},
		func(runner.QuotaShare) {}); err == nil {
		t.Error("an allowance has a name without a key")
	}
}
