package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"pdpp/internal/keep/store"
	"pdpp/internal/keep/store/postgres"
	"pdpp/internal/keep/store/sqlite"
	"pdpp/internal/keep/store/storetest"
	"pdpp/internal/share/grants"
)

// What one grant does to the console: so many reads at once, each of which looks at every
// record for a value that none has.
const (
	besideRecords = 100_000
	besideReads   = 24
)

// measureBeside opens the dashboard alone, and beside one grant that reads as much as it
// can, in one run.
func measureBeside(ctx context.Context, c config, dir string, r *report) error {
	st, err := sqlite.Open(ctx, filepath.Join(dir, "beside.db"), sqlite.Options{})
	if err != nil {
		return err
	}
	err = r.beside(ctx, "SQLite", st)
	if closeErr := st.Close(); err == nil {
		err = closeErr
	}
	if err != nil || c.Postgres == "" {
		return err
	}
	_, err = inDatabase(ctx, c.Postgres, "pdpp_bench_beside", func(dsn string) (float64, error) {
		st, err := postgres.Open(ctx, dsn, postgres.Options{})
		if err != nil {
			return 0, err
		}
		defer st.Close()
		return 0, r.beside(ctx, "PostgreSQL", st)
	})
	return err
}

func (r *report) beside(ctx context.Context, database string, st store.Store) error {
	if err := storetest.FillEvidence(ctx, st, 100); err != nil {
		return fmt.Errorf("fill a store: %w", err)
	}
	fill, err := beginFill(ctx, st)
	if err != nil {
		return err
	}
	if err := fill(besideRecords); err != nil {
		return err
	}
	h, err := surface(ctx, st, time.Now)
	if err != nil {
		return err
	}
	_, token, err := grants.NewBook(st, "http://127.0.0.1", time.Now).Create(ctx, grants.New{
		ClientName: "Bench", Scope: grants.Scope{{ConnectionID: "bench", Stream: storetest.Stream}},
	})
	if err != nil {
		return err
	}
	alone, err := dashboards(h)
	if err != nil {
		return err
	}
	reading, stop := context.WithCancel(ctx)
	defer stop()
	var all sync.WaitGroup
	var mu sync.Mutex
	answers := map[int]int{}
	for range besideReads {
		all.Go(func() {
			for reading.Err() == nil {
				w, req := httptest.NewRecorder(), httptest.NewRequestWithContext(reading, http.MethodGet, "/v1/streams/items/records?filter[title]=nowhere", nil)
				req.Header.Set("Authorization", "Bearer "+token)
				h.ServeHTTP(w, req)
				mu.Lock()
				answers[w.Code]++
				mu.Unlock()
				if w.Code == http.StatusTooManyRequests {
					select { // a client that does not wait as it is told, but is no loop either
					case <-reading.Done():
					case <-time.After(10 * time.Millisecond):
					}
				}
			}
		})
	}
	beside, err := dashboards(h)
	stop()
	all.Wait()
	if err != nil {
		return err
	}
	r.tell(figure{Name: "dashboard beside one grant under full load, " + database + ", p95 against alone", Value: beside / alone, Unit: "x", Below: 2,
		Note: fmt.Sprintf("%.1f ms alone, %.1f ms beside %d reads at once; answers by status %v", alone, beside, besideReads, answers)})
	return nil
}

// dashboards gives the 95th percentile of opening the dashboard, in milliseconds.
func dashboards(h http.Handler) (float64, error) {
	var all []float64
	for i := range visits + 5 {
		took, _, err := get(h, "/")
		if err != nil {
			return 0, err
		}
		if i >= 5 { // the first prepare statements
			all = append(all, took)
		}
	}
	slices.Sort(all)
	return percentile(all, 0.95), nil
}
