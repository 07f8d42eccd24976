package demo

import (
	"bytes"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/blob"
	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
	"github.com/pdpp-go/pdpp/internal/view"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/manifest/gate"
	"github.com/pdpp-go/pdpp/protocol"
)

var today = time.Date(2026, 3, 26, 14, 32, 0, 0, time.UTC)

// ground is a house without anything in it.
func ground(t *testing.T) Ground {
	t.Helper()
	home := t.TempDir()
	st, err := sqlite.Open(t.Context(), sqlitetest.NewDatabase(t, filepath.Join(home, "pdpp.db")), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	if err := install(filepath.Join(home, "connectors")); err != nil {
		t.Fatal(err)
	}
	return Ground{Home: home, Store: st, Blobs: blob.FolderStorage{Dir: filepath.Join(home, "blobs")},
		Connectors: catalog.Catalog{Dir: filepath.Join(home, "connectors")}, Now: func() time.Time { return today }}
}

// The year is whole: every source is healthy, has a record for each that was invented, a
// file for each picture, and runs of which some ended otherwise than the others.
func TestYearIsPlanted(t *testing.T) {
	t.Parallel()
	g := ground(t)
	if err := g.year(t.Context()); err != nil {
		t.Fatal(err)
	}
	judge := view.View{Reader: g.Store, Now: g.Now}
	all, err := judge.All(t.Context())
	if err != nil || len(all.Connections) != len(chronicles) {
		t.Fatalf("%d connections, %v", len(all.Connections), err)
	}
	total := 0
	for _, c := range all.Connections {
		want := map[string]bool{}
		for back := yearDays; back >= 0; back-- {
			for _, x := range dayOf(c.ConnectorID, today.AddDate(0, 0, -back)) {
				if !x.At.After(c.LastRun.CompletedAt) {
					want[x.Stream+"/"+x.Key] = true
				}
			}
		}
		if c.TotalRecords == nil || *c.TotalRecords != int64(len(want)) {
			t.Errorf("%s: %v records are kept, %d were invented", c.ConnectorID, *c.TotalRecords, len(want))
		}
		total += len(want)
		if c.Verdict.Pill.Tone != verdict.Green || c.Verdict.Channel != verdict.Calm {
			t.Errorf("%s: %+v, %s", c.ConnectorID, c.Verdict.Pill, c.Verdict.ForwardStatement)
		}
		runs, err := g.Store.ListRuns(t.Context(), store.RunQuery{ConnectionID: c.ID, Limit: 100})
		if err != nil || len(runs) < 4 {
			t.Errorf("%s: %d runs, %v", c.ConnectorID, len(runs), err)
		}
		failed := slices.IndexFunc(runs, func(r store.Run) bool { return r.Status == store.RunFailed })
		if c.ConnectorID == "ferry" && (failed != slowTo || runs[slowFrom].Status != store.RunFailed ||
			runs[slowFrom+1].Status != store.RunSucceeded) {
			t.Errorf("the week in which Ferry was slow: %d", failed)
		}
	}
	if total < 8000 {
		t.Errorf("a year of %d records", total)
	}
	files, _, err := g.Store.BlobTotals(t.Context())
	if err != nil || files == 0 {
		t.Errorf("%d files, %v", files, err)
	}
}

// A day is always the same, and each of its records is valid for its source.
func TestInventionIsWhatItsSourceDeclares(t *testing.T) {
	t.Parallel()
	for _, c := range chronicles {
		body, err := manifests.ReadFile("sources/" + c.Name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		m, err := manifest.Parse(body)
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		gates, err := gate.Resolve(m, nil)
		if err == nil {
			err = gate.EnforceSchemas(gates)
		}
		if err != nil {
			t.Fatal(err)
		}
		decoder := protocol.NewDecoder(protocol.FromConnector)
		keys := map[string]bool{}
		for back := 0; back <= yearDays; back += 3 {
			date := today.AddDate(0, 0, -back)
			one := dayOf(c.Name, date)
			if !reflect.DeepEqual(one, dayOf(c.Name, date.Add(-5*time.Hour))) {
				t.Fatalf("%s: two of %s", c.Name, date)
			}
			var out bytes.Buffer
			s := demoConnector{out: &out}
			for _, x := range one {
				name := x.Stream + "/" + x.Key
				if keys[name] && x.Stream != "chats" {
					t.Fatalf("%s: %s twice", c.Name, name)
				}
				keys[name] = true
				s.record(x.Stream, x.Key, x.At, x.Data)
			}
			if s.err != nil {
				t.Fatal(s.err)
			}
			for line := range strings.Lines(out.String()) {
				msg, err := decoder.Decode([]byte(strings.TrimSuffix(line, "\n")))
				if err != nil {
					t.Fatalf("%s: %v", line, err)
				}
				r := msg.(*protocol.Record)
				at := slices.IndexFunc(gates, func(g *gate.Stream) bool { return g.Decl.Name == r.Stream })
				if at < 0 {
					t.Fatalf("%s has no stream %s", c.Name, r.Stream)
				}
				if _, v := gates[at].Record(r); v != nil {
					t.Fatalf("%s: %v", line, v)
				}
			}
		}
	}
}

// A scheduled run of a yearly source sends what is new and succeeds.
func TestYearGoesOn(t *testing.T) {
	t.Parallel()
	for _, c := range chronicles {
		var out bytes.Buffer
		if err := Speak(c.Name, strings.NewReader("{}\n"), &out); err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if last := lines[len(lines)-1]; !strings.Contains(last, `"DONE"`) || !strings.Contains(last, "succeeded") {
			t.Errorf("%s ends with %s", c.Name, last)
		}
	}
}
