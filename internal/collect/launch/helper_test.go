package launch

import (
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/collect/browser"
	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
	"github.com/pdpp-go/pdpp/manifest"
)

const connection = "cin_sample"

func sample(t *testing.T) *manifest.Manifest {
	t.Helper()
	b, err := os.ReadFile("testdata/manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	m, err := manifest.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// bed is a store with one connection. Its connector is this test program.
type bed struct {
	store store.Store
	path  string // of the database
	env   map[string]string

	browsers *browser.Profiles // once a run has had one
}

func newBed(t *testing.T) *bed {
	t.Helper()
	b := &bed{path: filepath.Join(t.TempDir(), "pdpp.db"), env: map[string]string{}}
	var err error
	if b.store, err = sqlite.Open(t.Context(), sqlitetest.NewDatabase(t, b.path), sqlite.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.store.Close(); err != nil {
			t.Error(err)
		}
	})
	now := time.Now()
	if err := b.store.CreateConnection(t.Context(), store.Connection{
		ID: connection, ConnectorID: "sample", DisplayName: "Sample", Status: store.ConnectionActive,
		SourceKind: store.SourceAccount, CreatedAt: now, UpdatedAt: now,
	}); err != nil {
		t.Fatal(err)
	}
	return b
}

// launcher starts this program in the role.
func (b *bed) launcher(t *testing.T, role string) *Launcher {
	t.Helper()
	path, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	// Under the race detector a process waits a second before it exits otherwise.
	env := map[string]string{roleVariable: role, "GORACE": "atexit_sleep_ms=0"}
	return &Launcher{
		Store: b.store, Connectors: catalog.Fixed(catalog.Connector{Name: "sample", Manifest: sample(t), Path: path}),
		Holder: "test",
		Lookup: func(name string) (string, bool) {
			if v, ok := env[name]; ok {
				return v, true
			}
			v, ok := b.env[name]
			return v, ok
		},
		Bindings: map[string]jsontext.Value{"filesystem": jsontext.Value("{}")},
	}
}

// run executes one run that must be executable.
func (b *bed) run(t *testing.T, role string, req RunRequest) RunResult {
	t.Helper()
	req.ConnectionID, req.Trigger = connection, store.TriggerManual
	r, err := b.launcher(t, role).Run(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func mustSucceed(t *testing.T, r RunResult) {
	t.Helper()
	if r.Status != runner.Succeeded {
		t.Fatalf("run ended as %s: %v\nstderr: %s", r.Status, r.Failure, r.StderrTail)
	}
}

// keys lists the live records of the notes stream.
func (b *bed) keys(t *testing.T) []string {
	t.Helper()
	records, err := b.store.ListRecords(t.Context(),
		store.RecordQuery{AccessFilter: store.AccessFilter{ConnectionID: connection, Stream: "notes"}})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range records {
		out = append(out, r.Key)
	}
	return out
}

func (b *bed) row(t *testing.T, runID string) store.Run {
	t.Helper()
	r, err := b.store.Run(t.Context(), runID)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (b *bed) timeline(t *testing.T, runID string) (kinds []string) {
	t.Helper()
	events, err := b.store.RunEvents(t.Context(), runID, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		kinds = append(kinds, e.Type)
	}
	return kinds
}

// fifo makes a named pipe.
func fifo(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// release lets the connector go on that awaits the FIFO, now or later.
func release(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err == nil {
		t.Cleanup(func() { _ = f.Close() })
		_, err = f.WriteString("!")
	}
	if err != nil {
		t.Error(err)
	}
}

// background starts a run and returns once its first slice is durable.
func background(t *testing.T, l *Launcher, req RunRequest) (runID string, outcome func() (RunResult, error)) {
	t.Helper()
	ready, id := make(chan struct{}), make(chan string, 1)
	var once sync.Once
	req.ConnectionID, req.Trigger = connection, store.TriggerManual
	req.Started = func(runID string) { id <- runID }
	req.Options.Observe = func(u runner.Update) {
		if u.Committed > 0 {
			once.Do(func() { close(ready) })
		}
	}
	type ended struct {
		RunResult
		error
	}
	done := make(chan ended, 1)
	go func() {
		r, err := l.Run(t.Context(), req)
		done <- ended{r, err}
	}()
	select {
	case <-ready:
	case e := <-done:
		t.Fatalf("run ended at once as %s: %v, %v", e.Status, e.Failure, e.error)
	}
	return <-id, func() (RunResult, error) { e := <-done; return e.RunResult, e.error }
}
