package chaostest

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/sample"
)

// world is one database, the accounts that are collected into it, and the
// workers that do so.
type world struct {
	shipped
	seed     uint64
	home     string
	database string       // URL of PostgreSQL; empty means SQLite in the home folder
	leaseTTL atomic.Int64 // of the workers that start from now on, in nanoseconds
	store    store.Store
	sql      *sql.DB // the store's own
	accounts []*sample.Server
	sources  []source
	journal  journal
	workers  []*worker
	calm     time.Time // since when nothing is killed and every provider is well
	tally    tally
}

// source is a connection and the account that it collects. Several connections
// may collect one account: each must have all of it.
type source struct {
	id      string
	account *sample.Server
}

// random returns a random source for one actor, so that its choices do not depend on the speed of
// others.
func (w *world) random(actor string) *rand.Rand {
	var salt uint64
	for _, b := range []byte(actor) {
		salt = salt*131 + uint64(b)
	}
	return rand.New(rand.NewPCG(w.seed, salt))
}

// plant opens accounts and connects to them, each connection with its own
// credential and a rhythm of seconds.
func (w *world) plant(t *testing.T, connections, accounts int) {
	t.Helper()
	t.Cleanup(func() { w.lastWords(t) })
	w.sql = w.store.(interface{ Writer() *sql.DB }).Writer()
	key, err := credential.LoadKey(w.home)
	if err != nil {
		t.Fatal(err)
	}
	for i := range accounts {
		account, err := sample.Start(sample.Config{
			Seed: w.seed + uint64(i), Events: 450, Notes: 60, Threads: 12, Token: fmt.Sprintf("tok-chaos-%d", i),
			Latency: 60 * time.Millisecond, // runs last long enough to be hit
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = account.Close() })
		w.accounts = append(w.accounts, account)
		if i%2 == 0 {
			withhold(t, account.Sim)
		}
	}
	now := time.Now()
	found, err := catalog.Catalog{Dir: filepath.Join(w.home, "connectors")}.Find(t.Context(), "example")
	if err != nil {
		t.Fatal(err)
	}
	must(t, launch.Confirm(t.Context(), w.store, found, now))
	for i := range connections {
		s := source{fmt.Sprintf("cin_chaos_%02d", i), w.accounts[i%accounts]}
		values, err := credential.NewValues(w.manifest, map[string]string{
			"PDPP_EXAMPLE_TOKEN": s.account.Sim.Token(), "PDPP_EXAMPLE_BASE_URL": s.account.BaseURL,
		})
		if err != nil {
			t.Fatal(err)
		}
		must(t, w.store.CreateConnection(t.Context(), store.Connection{
			ID: s.id, ConnectorID: "example", DisplayName: s.id, Status: store.ConnectionActive, SourceKind: store.SourceAccount,
			CreatedAt: now, UpdatedAt: now,
		}))
		must(t, w.store.PutCredential(t.Context(), store.Credential{
			ConnectionID: s.id, Kind: "personal_access_token", Sealed: values.SealFor(key, s.id),
			Fingerprint: key.FingerprintOf(values),
			Status:      store.CredentialActive, CapturedAt: now,
		}))
		must(t, w.store.PutSchedule(t.Context(), store.Schedule{
			ConnectionID: s.id, IntervalSeconds: int64(2 + i%4), JitterSeconds: 1, Enabled: true, CreatedAt: now, UpdatedAt: now,
		}))
		w.sources = append(w.sources, s)
	}
}

// withhold makes the provider report one thread as permanently gone, so that its messages are
// finally declared missing.
func withhold(t *testing.T, account *sample.Lumen) {
	t.Helper()
	first := slices.Min(slices.Collect(maps.Keys(account.Truth()[sample.StreamThreads])))
	_, err := account.Gate().Add(providersim.Fault{Kind: providersim.Throttle, Status: http.StatusGone,
		Path: "/v1/threads/" + first, Exact: true})
	must(t, err)
}

// employ starts workers with so many places.
func (w *world) employ(t *testing.T, n, slots int) {
	for range n {
		w.workers = append(w.workers, startWorker(t, &w.journal, func() *exec.Cmd {
			cmd := exec.Command(w.pdpp, "serve", "--json", "--role", "worker", "--can", "network", "--slots", fmt.Sprint(slots),
				"--slots-per-provider", fmt.Sprint(slots),
				"--lease-ttl", time.Duration(w.leaseTTL.Load()).String(), "--log-format", "json")
			cmd.Env = []string{
				"PATH=" + os.Getenv("PATH"), "PDPP_HOME=" + w.home, "PDPP_DATABASE_URL=" + w.database,
				// the accounts refuse requests that are too fast
				"PDPP_EXAMPLE_PACING_INITIAL_INTERVAL_MS=5", "PDPP_EXAMPLE_PACING_MIN_INTERVAL_MS=1",
				"TMPDIR=" + w.home, // a killed worker leaves the folders of its runs behind
				"GOMAXPROCS=2",
			}
			return cmd
		}))
	}
}

// live changes the accounts as their users do, and lets the provider refuse now
// and then, until ctx ends. Then the provider is well again.
func (w *world) live(ctx context.Context, t *testing.T) {
	r := w.random("provider")
	changes := []providersim.Mutation{
		{Op: "append_events", N: 7}, {Op: "edit_notes", N: 2}, {Op: "delete_notes", N: 1},
		{Op: "add_notes", N: 2}, {Op: "touch_threads", N: 2}, {Op: "add_threads", N: 1},
	}
	refusals := []providersim.Fault{
		{Kind: providersim.Throttle, Count: 2, RetryAfter: providersim.RetrySeconds, Seconds: 1},
		{Kind: providersim.Unavailable, Count: 2, RetryAfter: providersim.RetrySeconds, Seconds: 1},
		{Kind: providersim.Reset, Count: 1},
		{Kind: providersim.TruncatedJSON, Count: 1},
		{Kind: providersim.ServerError, Path: "/v1/threads/", Count: 4},
		{Kind: providersim.Bucket, Rate: 20, Burst: 10, Count: 100, RetryAfter: providersim.RetrySeconds},
	}
	for pause(ctx, between(r, 100*time.Millisecond, 500*time.Millisecond)) {
		account := w.accounts[r.IntN(len(w.accounts))].Sim
		if _, err := account.Mutate(changes[r.IntN(len(changes))]); err != nil {
			t.Errorf("change an account: %v", err)
		}
		if r.IntN(6) == 0 {
			if _, err := account.Gate().Add(refusals[r.IntN(len(refusals))]); err != nil {
				t.Errorf("let the provider refuse: %v", err)
			}
		}
	}
	for _, a := range w.accounts {
		for _, f := range a.Sim.Gate().Faults() {
			if f.Status != http.StatusGone {
				_ = a.Sim.Gate().Remove(f.ID)
			}
		}
	}
}

// bed holds one connection against its account.
func (w *world) bed(s source) *connectortest.Harness {
	return &connectortest.Harness{
		Target: w.target, Store: only{w.store, s.id},
		Sim: &connectortest.Sim{Provider: s.account.Sim, Gate: s.account.Sim.Gate()},
	}
}

// only is the store as if the bed's one connection were this one.
type only struct {
	store.Store
	connection string
}

func (o only) Changes(ctx context.Context, q store.RecordQuery) ([]store.StoredRecord, error) {
	q.ConnectionID = o.connection
	return o.Store.Changes(ctx, q)
}

func (o only) ListGaps(ctx context.Context, q store.GapQuery) ([]store.Gap, error) {
	q.ConnectionID = o.connection
	return o.Store.ListGaps(ctx, q)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
