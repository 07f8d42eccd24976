package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/keep/store/postgres"
	"github.com/pdpp-go/pdpp/internal/keep/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/keep/store/storetest"
	"github.com/pdpp-go/pdpp/internal/share/grants"
)

// What one grant, and one stranger, does to the console: so many requests at once. Those of
// the grant look at every record for a value that none has.
const (
	besideRecords = 100_000
	besideAtOnce  = 24
	besideRounds  = 6
)

// measureBeside opens the dashboard alone, beside one grant that reads as much as it can,
// and beside a stranger who tries tokens, by turns in one run.
func measureBeside(ctx context.Context, c config, dir string, r *report) error {
	st, err := sqlite.Open(ctx, filepath.Join(dir, "beside.db"), sqlite.Options{})
	if err != nil {
		return err
	}
	err = r.beside(ctx, "SQLite", st, func() error { return nil })
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
		return 0, r.beside(ctx, "PostgreSQL", st, func() error { return vacuum(ctx, dsn) })
	})
	return err
}

func (r *report) beside(ctx context.Context, database string, st store.Store, settle func() error) error {
	if err := storetest.FillEvidence(ctx, st, 100); err != nil {
		return fmt.Errorf("fill a store: %w", err)
	}
	fill, _, err := beginFill(ctx, st, `"search":["title"],"filter":["title"]`, "title")
	if err != nil {
		return err
	}
	if err := fill(besideRecords); err != nil {
		return err
	}
	if err := settle(); err != nil {
		return err
	}
	h, err := surface(ctx, st, time.Now)
	if err != nil {
		return err
	}
	_, granted, err := grants.NewService(st, "http://127.0.0.1", time.Now).Create(ctx, grants.New{
		ClientName: "Bench", Scope: grants.Scope{{ConnectionID: "bench", Stream: storetest.Stream}},
	})
	if err != nil {
		return err
	}
	var alone []float64
	others := []*company{
		{name: "one grant under full load", token: func() string { return granted }, answers: map[int]int{}},
		{name: "one stranger who tries tokens", token: func() string { return grants.TokenPrefix + rand.Text() + rand.Text() }, answers: map[int]int{}},
	}
	for range besideRounds {
		if alone, err = dashboards(h, alone); err != nil {
			return err
		}
		for _, other := range others {
			if err := other.measure(ctx, h); err != nil {
				return err
			}
		}
	}
	slices.Sort(alone)
	for _, other := range others {
		slices.Sort(other.took)
		idle, beside := percentile(alone, 0.95), percentile(other.took, 0.95)
		r.tell(figure{Name: fmt.Sprintf("dashboard beside %s, %s, p95 against alone", other.name, database), Value: beside / idle, Unit: "x", Below: 2,
			Note: fmt.Sprintf("%.1f ms alone, %.1f ms beside %d at once; answers by status %v", idle, beside, besideAtOnce, other.answers)})
	}
	return nil
}

// company is somebody who asks for as much as they get while the dashboard is opened.
type company struct {
	name    string
	token   func() string
	mu      sync.Mutex
	answers map[int]int
	took    []float64 // milliseconds of dashboards meanwhile
}

func (c *company) measure(ctx context.Context, h http.Handler) (err error) {
	asking, stop := context.WithCancel(ctx)
	var all sync.WaitGroup
	for range besideAtOnce {
		all.Go(func() {
			for asking.Err() == nil {
				c.ask(asking, h)
			}
		})
	}
	c.took, err = dashboards(h, c.took)
	stop()
	all.Wait()
	return err
}

func (c *company) ask(ctx context.Context, h http.Handler) {
	w, req := httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodGet, "/v1/streams/items/records?filter[title]=nowhere", nil)
	req.Header.Set("Authorization", "Bearer "+c.token())
	h.ServeHTTP(w, req)
	if ctx.Err() != nil {
		return
	}
	c.mu.Lock()
	c.answers[w.Code]++
	c.mu.Unlock()
	if w.Code == http.StatusOK {
		return
	}
	select { // one who does not wait as they are told, but is no loop either
	case <-ctx.Done():
	case <-time.After(10 * time.Millisecond):
	}
}

// dashboards opens the dashboard a few times, and adds the milliseconds that each took.
func dashboards(h http.Handler, all []float64) ([]float64, error) {
	for i := range visits/2 + 3 {
		took, _, err := get(h, "/")
		if err != nil {
			return nil, err
		}
		if i >= 3 { // the first prepare statements
			all = append(all, took)
		}
	}
	return all, nil
}
