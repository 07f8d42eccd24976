package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/storetest"
)

const (
	fewRecords  = 10_000
	manyRecords = 1_000_000
)

// measureReading asks for a page of records and for a search, through the routes of
// clients, over few records and over many.
func (r *report) measureReading(ctx context.Context, c config, dir string) error {
	return onBoth(ctx, c, dir, "reading", func(kind string, st store.Store, settle func() error) error {
		return r.readBoth(ctx, kind, st, settle)
	})
}

// onBoth calls measure with an empty store of each database. settle completes the database's
// background work after a large load.
func onBoth(ctx context.Context, c config, dir, name string,
	measure func(kind string, st store.Store, settle func() error) error) error {
	st, err := sqlite.Open(ctx, filepath.Join(dir, name+".db"), sqlite.Options{})
	if err != nil {
		return err
	}
	err = errors.Join(measure("SQLite", st, func() error { return nil }), st.Close())
	if err != nil || c.Postgres == "" {
		return err
	}
	_, err = inDatabase(ctx, c.Postgres, "pdpp_bench_"+name, func(dsn string) (float64, error) {
		st, err := postgres.Open(ctx, dsn, postgres.Options{})
		if err != nil {
			return 0, err
		}
		defer st.Close()
		return 0, measure("PostgreSQL", st, func() error { return vacuum(ctx, dsn) })
	})
	return err
}

// vacuum runs at once what the server would run automatically within minutes of a large load.
// Otherwise it could run while reads are measured.
func vacuum(ctx context.Context, dsn string) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "VACUUM ANALYZE")
	return errors.Join(err, conn.Close(ctx))
}

// asked are the requests, and what the largest store may take for each.
// Tool and arguments are the same question of an assistant.
var asked = []struct {
	name, path      string
	below           float64
	tool, arguments string
}{
	{"newest page of records", "/v1/streams/items/records?order=desc&limit=25", 15,
		"read_records", `{"stream":"items","order":"desc"}`},
	{"search for a common word", "/v1/search?q=invoice&limit=25", 50, "search", `{"words":"invoice"}`},
	{"one record", "/v1/streams/items/records/item-000000777", 15,
		"get_record", `{"stream":"items","id":"item-000000777"}`},
	{"search for a rare word", "/v1/search?q=777777&limit=25", 50, "search", `{"words":"777777"}`},
}

func (r *report) readBoth(ctx context.Context, kind string, st store.Store, settle func() error) error {
	now := func() time.Time { return storetest.Now.Add(time.Hour) }
	h, err := surface(ctx, st, now)
	if err != nil {
		return err
	}
	fill, _, err := beginFill(ctx, st, `"search":["title"],"filter":["title"]`, "title")
	if err != nil {
		return err
	}
	var small []float64
	for _, n := range []int{fewRecords, manyRecords} {
		if err := fill(n); err != nil {
			return fmt.Errorf("fill a store: %w", err)
		}
		if err := settle(); err != nil {
			return fmt.Errorf("settle a store: %w", err)
		}
		for i, a := range asked {
			var took, called []float64
			for round := range visits + 5 {
				millis, _, err := get(h, a.path)
				if err != nil {
					return err
				}
				byTool, _, err := callTool(h, a.tool, a.arguments)
				if err != nil {
					return err
				}
				if round >= 5 {
					took, called = append(took, millis), append(called, byTool)
				}
			}
			slices.Sort(called)
			slices.Sort(took)
			half := percentile(took, 0.5)
			if n == fewRecords {
				small = append(small, half)
				continue
			}
			name := fmt.Sprintf("%s, %s over 1000000", kind, a.name)
			r.tell(figure{Name: name + ", p95", Value: percentile(took, 0.95), Unit: "ms", Below: a.below,
				Note: fmt.Sprintf("p50 %.2f ms", half)})
			grown := figure{Name: name + " against 10000", Value: half / small[i], Unit: "x"}
			if i == 0 {
				grown.Below = 1.5
			}
			r.tell(grown)
			r.tell(figure{Name: name + ", by an assistant against /v1", Value: percentile(called, 0.5) / half, Unit: "x",
				Note: fmt.Sprintf("p50 %.2f ms", percentile(called, 0.5))})
		}
	}
	return nil
}

// beginFill starts a run on a stream with the query declarations. It returns a function that fills
// the store to n records, and a function that ends the run.
func beginFill(ctx context.Context, st store.Store, query string, searched ...string) (fill func(n int) error,
	end func() error, err error) {
	const id = "bench"
	manifest := `{"protocol_version":"0.1.0","connector_id":"bench","version":"1.0.0","display_name":"Bench",` +
		`"runtime_requirements":{"bindings":{}},` +
		`"streams":[{"name":"items","semantics":"mutable_state","primary_key":"id","query":{` + query + `},` +
		`"schema":{"type":"object","properties":{"id":{"type":"string"},"title":{"type":"string"},` +
		`"amount":{"type":"number"},"version":{"type":"integer"}}}}]}`
	generation, err := st.PutManifest(ctx, id, []byte(manifest), storetest.Now)
	if err != nil {
		return nil, nil, err
	}
	err = st.CreateConnection(ctx, store.Connection{ID: id, ConnectorID: id, DisplayName: "Bench",
		Status:     store.ConnectionActive,
		SourceKind: store.SourceAccount, ManifestGeneration: generation, CreatedAt: storetest.Now, UpdatedAt: storetest.Now})
	if err != nil {
		return nil, nil, err
	}
	lease, err := st.StartRun(ctx, store.RunStart{RunID: "run_bench", ConnectionID: id, ConnectorID: id,
		Trigger: store.TriggerManual, Holder: "bench", TTL: time.Hour,
		Streams: []store.StreamSpec{{Name: storetest.Stream, SearchFields: searched}}}, storetest.Now)
	if err != nil {
		return nil, nil, err
	}
	end = func() error {
		return st.FinishRun(ctx, lease,
			store.RunOutcome{Status: store.RunSucceeded, Event: slice.Event{Type: "run.completed"}}, storetest.Now)
	}
	have := 0
	return func(n int) error {
		const each = 4000
		for ; have < n; have = min(have+each, n) {
			_, err := st.CommitSlice(ctx, lease, slice.Slice{Records: storetest.BenchRecords(have, min(each, n-have), 1)},
				storetest.Now)
			if err != nil {
				return err
			}
		}
		return nil
	}, end, nil
}
