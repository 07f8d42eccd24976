package foreign_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/foreign"
	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
)

// bed is a store with a connection to a tap that was wrapped, as an owner does it.
type bed struct {
	*testing.T
	dir      string // of connectors
	store    store.Store
	launcher *launch.Launcher
	env      map[string]string
	output   strings.Builder // output of the last run
}

// newBed wraps the tap of a habit, with the configuration that its owner has.
func newBed(t *testing.T, habit string, config map[string]any, adjust ...func(*foreign.Order)) *bed {
	t.Helper()
	b := &bed{
		T:   t,
		dir: t.TempDir(),
		env: map[string]string{"PDPP_LEDGER_TOKEN": "tok-hush", "PDPP_LEDGER_CHECKPOINT_INTERVAL_MS": "1"},
	}
	o := foreign.Order{
		Kind:    foreign.Singer,
		Name:    "ledger",
		Dir:     filepath.Join(b.dir, "ledger"),
		Command: []string{os.Args[0], "tap", habit},
	}
	if config != nil {
		o.Config = filepath.Join(t.TempDir(), "config.json")
		body, err := json.Marshal(config)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(o.Config, body, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range adjust {
		f(&o)
	}
	if _, err := foreign.Wrap(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	st, err := sqlite.Open(t.Context(), sqlitetest.NewDatabase(t, filepath.Join(t.TempDir(), "pdpp.db")), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	b.store = st
	now := time.Now()
	err = st.CreateConnection(
		t.Context(),
		store.Connection{ID: connectortest.Connection, ConnectorID: "ledger", DisplayName: "Ledger",
			Status: store.ConnectionActive, SourceKind: store.SourceAccount, CreatedAt: now, UpdatedAt: now},
	)
	if err != nil {
		t.Fatal(err)
	}
	b.launcher = &launch.Launcher{
		Store: st, Connectors: catalog.Catalog{Host: os.Args[0], Dir: b.dir}, Holder: "foreign",
		Lookup:   func(name string) (string, bool) { v, ok := b.env[name]; return v, ok },
		Bindings: map[string]jsontext.Value{"network": jsontext.Value("{}")},
	}
	return b
}

// run is one run of the connection.
func (b *bed) run(req launch.RunRequest) launch.RunResult {
	b.Helper()
	b.output.Reset()
	var mu sync.Mutex
	req.Options.Observe = func(u runner.Update) {
		mu.Lock()
		defer mu.Unlock()
		b.output.WriteString(u.Message + "\n")
	}
	req.ConnectionID, req.Trigger = connectortest.Connection, store.TriggerManual
	result, err := b.launcher.Run(b.Context(), req)
	if err != nil {
		b.Fatal(err)
	}
	return result
}

// keys are what is stored of a stream.
func (b *bed) keys(stream string) map[string]bool {
	b.Helper()
	all, err := connectortest.StoredRecords(b.Context(), b.store, stream)
	if err != nil {
		b.Fatal(err)
	}
	out := map[string]bool{}
	for key, r := range all {
		if !r.Deleted {
			out[key] = true
		}
	}
	return out
}

// edit changes the adapter of a bed's tap.
func edit(t *testing.T, b *bed, change func(*foreign.Adapter)) {
	t.Helper()
	_, a, err := foreign.Load(filepath.Join(b.dir, "ledger"))
	if err != nil {
		t.Fatal(err)
	}
	change(&a)
	body, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.dir, "ledger", foreign.AdapterFile), body, 0o644); err != nil {
		t.Fatal(err)
	}
}

// bookmark is the stored cursor of a stream.
func (b *bed) bookmark(stream string) string {
	b.Helper()
	marks, err := b.store.Cursors(b.Context(), connectortest.Connection, "")
	if err != nil {
		b.Fatal(err)
	}
	for _, m := range marks {
		if m.Stream == stream {
			return string(m.Cursor)
		}
	}
	return ""
}
