package connectortest

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/blob"
	"github.com/pdpp-go/pdpp/internal/collect/browser"
	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
	"github.com/pdpp-go/pdpp/protocol"
)

// Harness is a store with one connection of the target on it.
type Harness struct {
	Target Target
	Sim    *Sim
	Store  store.Store
	// Env overrides the provider's variables: run caps, a missing credential.
	Env map[string]string
	// Clock is added to the real time, so that leases and floors of an earlier
	// run can be made to expire without waiting.
	Clock time.Duration
	// Browsers keep the browser profiles of the harness's runs; nil means that they get no browser.
	Browsers *browser.Profiles
	// Files are those of the harness's records.
	Files blob.FolderStorage
}

// Connection is the id of the harness's one connection.
const Connection = "cin_under_test"

// NewHarness opens a fresh store and a fresh provider.
func NewHarness(t *testing.T, target Target) *Harness {
	t.Helper()
	st, err := sqlite.Open(t.Context(), sqlitetest.NewDatabase(t, filepath.Join(t.TempDir(), "pdpp.db")), sqlite.Options{})
	if err != nil {
		t.Fatalf("open store: %v", err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Errorf("close store: %v", err)
		}
	})
	return NewHarnessOver(t, target, st)
}

// NewHarnessOver starts a fresh provider over a store that is empty.
func NewHarnessOver(t *testing.T, target Target, st store.Store) *Harness {
	t.Helper()
	b := &Harness{
		Target: target, Sim: target.Start(t), Store: st, Env: map[string]string{},
		Files: blob.FolderStorage{Dir: t.TempDir()},
	}
	if err := b.Connect(t.Context()); err != nil {
		t.Fatalf("create connection: %v", err)
	}
	return b
}

// Connect creates the harness's connection.
func (b *Harness) Connect(ctx context.Context) error {
	now := time.Now()
	return b.Store.CreateConnection(ctx, store.Connection{
		ID: Connection, ConnectorID: b.Target.Connector.Name, DisplayName: "Under test",
		Status: store.ConnectionActive, SourceKind: store.SourceAccount, CreatedAt: now, UpdatedAt: now,
	})
}

// quickVariables are the owner's variables of a run unless the harness sets them. The
// simulators bear any pace, and the suite runs in real time: so the pace is
// adaptive as always, between bounds that cost nearly nothing.
var quickVariables = map[string]string{"_PACING_INITIAL_INTERVAL_MS": "5", "_PACING_MIN_INTERVAL_MS": "0.1"}

// Launcher is the launcher that the harness's runs use.
func (b *Harness) Launcher() *launch.Launcher {
	l := &launch.Launcher{
		Store: b.Store, Connectors: catalog.Fixed(b.Target.Connector), Holder: "connectortest",
		Lookup: func(name string) (string, bool) {
			if v, ok := b.Env[name]; ok {
				return v, v != ""
			}
			if v, ok := b.Sim.Env[name]; ok {
				return v, ok
			}
			v, ok := quickVariables[strings.TrimPrefix(name, b.Target.Connector.Manifest.EnvPrefix())]
			return v, ok
		},
		Bindings: map[string]jsontext.Value{"network": jsontext.Value("{}"), "filesystem": jsontext.Value("{}")},
		Now:      b.currentTime,
	}
	if b.Files.Dir != "" {
		l.Blobs = launch.Blobs{Place: b.Files}
	}
	if b.Browsers != nil {
		l.Browsers, l.Bindings["browser"] = b.Browsers, jsontext.Value("{}")
	}
	return l
}

func (b *Harness) currentTime() time.Time { return time.Now().Add(b.Clock) }

// Run executes one run and fails the test only when it could not be executed.
func (b *Harness) Run(t *testing.T, req launch.RunRequest) launch.RunResult {
	t.Helper()
	req.ConnectionID, req.Trigger = Connection, store.TriggerManual
	result, err := b.Launcher().Run(t.Context(), req)
	if err != nil {
		t.Fatalf("run: %v", err)
	}
	return result
}

// Succeed executes one run that must succeed.
func (b *Harness) Succeed(t *testing.T) launch.RunResult {
	t.Helper()
	result := b.Run(t, launch.RunRequest{})
	if result.Status != runner.Succeeded {
		t.Fatalf("run ended as %s: %v\nstderr: %s", result.Status, result.Failure, result.StderrTail)
	}
	return result
}

// Gaps lists the connection's gaps of one status.
func (b *Harness) Gaps(t *testing.T, status protocol.GapStatus) []store.Gap {
	t.Helper()
	gaps, err := b.Store.ListGaps(t.Context(), store.GapQuery{ConnectionID: Connection, Status: status, Limit: 1 << 20})
	if err != nil {
		t.Fatalf("list gaps: %v", err)
	}
	return gaps
}

// NewestChange is the newest change of a stream.
func (b *Harness) NewestChange(t *testing.T, stream string) int64 {
	t.Helper()
	var last int64
	for _, r := range b.storedRecords(t, stream) {
		last = max(last, r.Seq)
	}
	return last
}

func (b *Harness) storedRecords(t *testing.T, stream string) map[string]store.StoredRecord {
	t.Helper()
	all, err := StoredRecords(t.Context(), b.Store, stream)
	if err != nil {
		t.Fatal(err)
	}
	return all
}
