package crashtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres/postgrestest"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
)

// walker is a foreign connector as an outsider writes one. It knows no slices, walks its whole
// source and sends one STATE at the end. Leaf 5 is deleted late in the walk. The connector exits
// after the number of messages in its stop file.
const (
	walker = `#!/bin/sh
read -r start
stop=$(cat "$(dirname "$0")/stop")
said=0
tell() {
	printf '%s\n' "$1"
	said=$((said + 1))
	[ "$said" = "$stop" ] && kill -9 $$
}
i=1
while [ $i -le 40 ]; do
	tell "{\"type\":\"RECORD\",\"stream\":\"leaves\",\"key\":\"$i\",\"data\":{\"id\":\"$i\"},\"emitted_at\":\"2026-03-01\"}"
	i=$((i + 1))
done
tell '{"type":"RECORD","stream":"leaves","key":"5","op":"delete"}'
tell '{"type":"STATE","stream":"leaves","cursor":{"end":true}}'
printf '%s\n' '{"type":"DONE","status":"succeeded","records_emitted":41}'
cat >/dev/null
`
	walkerManifest = `{"protocol_version":"0.1.0","connector_id":"hedge","version":"1.0.0","display_name":"Hedge",
		"streams":[{"name":"leaves","semantics":"mutable_state","primary_key":"id",
		"schema":{"type":"object","required":["id"],"properties":{"id":{"type":"string"}}}}]}`
)

// A foreign connector without slices that is killed again and again: what arrived stays,
// grows from run to run, is stored once, and no cursor claims it before a run has
// succeeded. A deletion later in the walk wins in the end.
func TestKilledForeignConnectorKeepsWhatArrived(t *testing.T) {
	t.Parallel()
	for _, database := range []string{"sqlite", "postgres"} {
		t.Run(database, func(t *testing.T) {
			t.Parallel()
			st := openStore(t, database)
			dir := filepath.Join(t.TempDir(), "hedge")
			put := func(name, body string, mode os.FileMode) {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(body), mode); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			put("manifest.json", walkerManifest, 0o600)
			put("connector", walker, 0o700)
			now := time.Now()
			if err := st.CreateConnection(t.Context(), store.Connection{ID: "c", ConnectorID: "hedge", DisplayName: "Hedge",
				Status: store.ConnectionActive, SourceKind: store.SourceAccount, CreatedAt: now, UpdatedAt: now}); err != nil {
				t.Fatal(err)
			}
			l := &launch.Launcher{Store: st, Connectors: catalog.Catalog{Dir: filepath.Dir(dir)}, Holder: "test"}
			live := 0
			for _, stop := range []int{1, 9, 8, 27, 41, 42, 0} {
				put("stop", strconv.Itoa(stop), 0o600)
				r, err := l.Run(t.Context(), launch.RunRequest{ConnectionID: "c", Trigger: store.TriggerManual})
				if err != nil {
					t.Fatal(err)
				}
				want := runner.Failed
				if stop == 0 {
					want = runner.Succeeded
				}
				if r.Status != want {
					t.Fatalf("killed after %d messages: %s, %v\n%s", stop, r.Status, r.Failure, r.StderrTail)
				}
				before := live
				live = holdLeaves(t, st, min(stop, 40), stop == 0)
				if stop < 41 && stop > 0 && live < before {
					t.Errorf("killed after %d messages: %d records are left of %d", stop, live, before)
				}
			}
			if live != 39 {
				t.Errorf("%d leaves, want 39", live)
			}
		})
	}
}

// holdLeaves checks that the store has at least the first n leaves, each written once. The cursor
// may exist only after the walk is over. It returns how many leaves are not deleted.
func holdLeaves(t *testing.T, st store.Store, n int, over bool) int {
	t.Helper()
	stored, err := st.Changes(t.Context(),
		store.RecordQuery{AccessFilter: store.AccessFilter{ConnectionID: "c", Stream: "leaves"}, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	seen, live := map[string]bool{}, 0
	for _, r := range stored {
		if seen[r.Key] || r.Key != "5" && r.Version != 1 {
			t.Errorf("record %s is stored twice, version %d", r.Key, r.Version)
		}
		seen[r.Key] = true
		if !r.Deleted {
			live++
		}
	}
	for i := 1; i <= n; i++ {
		if !seen[fmt.Sprint(i)] {
			t.Errorf("leaf %d arrived and is not stored", i)
		}
	}
	cursors, err := st.Cursors(t.Context(), "c", "")
	if err != nil {
		t.Fatal(err)
	}
	if len(cursors) > 0 != over {
		t.Errorf("cursors %+v, and the walk is over: %t", cursors, over)
	}
	if leaf, err := st.Record(t.Context(), "c", "leaves", "5"); over && (err != nil || !leaf.Deleted) {
		t.Errorf("leaf 5 is %+v, %v", leaf, err)
	}
	return live
}

func openStore(t *testing.T, database string) store.Store {
	t.Helper()
	var st store.Store
	var err error
	if database == "sqlite" {
		st, err = sqlite.Open(t.Context(), sqlitetest.NewDatabase(t, filepath.Join(t.TempDir(), "pdpp.db")), sqlite.Options{})
	} else {
		st, err = postgres.Open(t.Context(), postgrestest.NewDatabase(t), postgres.Options{})
	}
	if err != nil {
		t.Fatalf("open store: %v", err)
	}
	t.Cleanup(func() { _ = st.Close() })
	return st
}
