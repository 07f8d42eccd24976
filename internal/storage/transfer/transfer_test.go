package transfer

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres/postgrestest"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
)

func openEmbedded(t *testing.T) Database {
	t.Helper()
	st, err := sqlite.Open(t.Context(), sqlitetest.NewDatabase(t, filepath.Join(t.TempDir(), "pdpp.db")), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	return Database{Store: st}
}

func openServer(t *testing.T) Database {
	t.Helper()
	st, err := postgres.Open(t.Context(), postgrestest.NewDatabase(t), postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	return Database{Store: st, Postgres: true}
}

func writer(t *testing.T, d Database) *sql.DB {
	t.Helper()
	pool, err := d.pool()
	if err != nil {
		t.Fatal(err)
	}
	return pool
}

// fill writes the rows of every table that the tests of upgrades have.
func fill(t *testing.T, d Database) {
	t.Helper()
	files, err := filepath.Glob("../store/storetest/testdata/version_*.sql")
	if err != nil || len(files) == 0 {
		t.Fatal("no rows to copy", err)
	}
	slices.Sort(files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err == nil {
			_, err = writer(t, d).ExecContext(t.Context(), string(text))
		}
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
}

// commit stores n records of one stream, half of them written again.
func commit(t *testing.T, st store.Store, stream string, n int) {
	t.Helper()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	if _, err := st.PutManifest(t.Context(), "orchard", []byte(`{}`), now); err != nil {
		t.Fatal(err)
	}
	err := st.CreateConnection(t.Context(), store.Connection{ID: "cin_" + stream, ConnectorID: "orchard",
		DisplayName: "Orchard", Status: store.ConnectionActive, SourceKind: store.SourceAccount, CreatedAt: now,
		UpdatedAt: now})
	if err != nil {
		t.Fatal(err)
	}
	l, err := st.StartRun(t.Context(), store.RunStart{RunID: "r" + stream, ConnectionID: "cin_" + stream,
		ConnectorID: "orchard", Trigger: store.TriggerManual, Holder: "test", TTL: time.Hour,
		Streams: []store.StreamSpec{{Name: stream}}}, now)
	for i := 0; err == nil && i < n+n/2; i += 1000 {
		var s slice.Slice
		for k := i; k < min(i+1000, n+n/2); k++ {
			s.Records = append(s.Records, slice.Record{Stream: stream, Key: strconv.Itoa(k % n), EmittedAt: "2026-03-01",
				Data: fmt.Appendf(nil, `{"n":%d,"name":"Birne Nr. %d, süß \u0000 und reif","day":"2026-03-%02d"}`, k, k, k%28+1)})
		}
		_, err = st.CommitSlice(t.Context(), l, s, now)
	}
	if err == nil {
		err = st.FinishRun(t.Context(), l,
			store.RunOutcome{Status: store.RunSucceeded, Event: slice.Event{Type: "run.completed"}}, now)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestThereAndBack moves every kind of row from an embedded database to a server and back. All three are equal by count
// and hash, and the numbers of new rows continue.
func TestThereAndBack(t *testing.T) {
	first, server, second := openEmbedded(t), openServer(t), openEmbedded(t)
	fill(t, first)
	commit(t, first.Store, "pears", 300)
	rows := map[string]int64{}
	there, err := Copy(t.Context(), first, server, func(table string, n int64) { rows[table] = n })
	if err != nil {
		t.Fatal(err)
	}
	back, err := Copy(t.Context(), server, second, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(there, back) {
		t.Errorf("there %+v\nback %+v", there, back)
	}
	i := slices.IndexFunc(there, func(p Part) bool { return p.Connection == "cin_pears" })
	if i < 0 || there[i].Rows != 300 || there[i].Stream != "pears" || rows["record_history"] < 2 {
		t.Errorf("compared %+v, copied %v", there, rows)
	}
	if len(rows) < 50 {
		t.Errorf("only %d tables were copied", len(rows))
	}
	for name, d := range map[string]Database{"server": server, "second": second} {
		page, err := d.Store.ListRuns(t.Context(), store.RunQuery{ConnectionID: "cin_pears", Limit: 5})
		if err != nil || len(page) != 1 || page[0].Status != store.RunSucceeded {
			t.Errorf("%s: runs %+v, %v", name, page, err)
		}
		commit(t, d.Store, "plums", 20) // numbers of new rows do not collide
	}
	if _, err := Copy(t.Context(), first, server, nil); !isCode(err, CodeNotEmpty) {
		t.Errorf("over a database with data: %v", err)
	}
}

func isCode(err error, code string) bool {
	var known *usererr.Error
	return errors.As(err, &known) && known.Code == code && known.Next != ""
}

// TestAllOrNothing ends a copy in its middle, and falsifies one. Nothing of either stays.
func TestAllOrNothing(t *testing.T) {
	first := openEmbedded(t)
	commit(t, first.Store, "pears", 20_000)
	for name, open := range map[string]func(*testing.T) Database{"server": openServer} {
		t.Run(name, func(t *testing.T) {
			to := open(t)
			ctx, stop := context.WithCancel(t.Context())
			if _, err := Copy(ctx, first, to, func(table string, _ int64) {
				if table == "records" {
					stop()
				}
			}); err == nil {
				t.Error("a copy that was ended is complete")
			}
			// A database that writes other rows than it received.
			if _, err := writer(t, to).ExecContext(t.Context(), `CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS
				$$ BEGIN NEW.data := replace(NEW.data, 'reif', 'roh'); RETURN NEW; END $$;
				CREATE TRIGGER spoil BEFORE INSERT ON records FOR EACH ROW WHEN (NEW.record_key = '7')
				EXECUTE FUNCTION spoil()`); err != nil {
				t.Fatal(err)
			}
			if _, err := Copy(t.Context(), first, to, nil); !isCode(err, CodeDiffers) {
				t.Errorf("one row differs: %v", err)
			}
			if all, err := to.Store.ListConnections(t.Context()); err != nil || len(all) != 0 {
				t.Errorf("left behind %+v, %v", all, err)
			}
			if _, err := writer(t, to).ExecContext(t.Context(), `DROP TRIGGER spoil ON records`); err != nil {
				t.Fatal(err)
			}
			if _, err := Copy(t.Context(), first, to, nil); err != nil {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}
