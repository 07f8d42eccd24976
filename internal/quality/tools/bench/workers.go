package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store/postgres"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore"
	"github.com/pdpp-go/pdpp/internal/storage/store/storetest"
)

// backlog is a number of connections that are due at once, and how workers
// take them on.
type backlog struct {
	name    string
	runs    int
	slots   int
	pause   time.Duration // what each run waits for its provider
	atLeast float64
}

// In the first the slots are the limit, in the second the cores: on few cores two
// workers are no faster then.
var backlogs = []backlog{
	{"runs that wait 150 ms, 4 slots each", 160, 4, 150 * time.Millisecond, 1.6},
	{"runs that wait for nothing, 64 slots each", 400, 64, 0, 0},
}

// providers are the connectors that a backlog is spread over.
var providers = []string{"waiter_a", "waiter_b", "waiter_c", "waiter_d"}

// measureWorkers compares two workers over one PostgreSQL with one.
func measureWorkers(ctx context.Context, c config, dir string, r *report) error {
	if c.Postgres == "" {
		fmt.Println("two workers on PostgreSQL are left out: give --postgres or run make bench")
		return nil
	}
	p, err := build(ctx, dir)
	if err != nil {
		return err
	}
	for _, b := range backlogs {
		var rate, busy [2]float64
		for i := range rate {
			rate[i], err = inDatabase(ctx, c.Postgres, fmt.Sprintf("pdpp_bench_workers_%d", i+1),
				func(dsn string) (rate float64, err error) {
					rate, busy[i], err = p.workOff(ctx, dir, dsn, b, i+1)
					return rate, err
				})
			if err != nil {
				return fmt.Errorf("%s, %d workers: %w", b.name, i+1, err)
			}
		}
		r.tell(figure{Name: "two workers against one, " + b.name, Value: rate[1] / rate[0], Unit: "times the runs",
			AtLeast: b.atLeast,
			Note: fmt.Sprintf("%.1f against %.1f runs/s, with the machine's cores %.0f and %.0f %% busy", rate[1], rate[0],
				busy[1], busy[0])})
	}
	return nil
}

// workOff returns runs per second, from the start of the first run to the end of the last. It also
// returns how busy the whole machine was meanwhile, in percent.
func (p programs) workOff(ctx context.Context, dir, dsn string, b backlog, workers int) (rate, busy float64,
	err error) {
	home, err := os.MkdirTemp(dir, "workers-")
	if err != nil {
		return 0, 0, err
	}
	for _, name := range providers {
		folder, err := installWaiter(p.waiter, home, name)
		if err != nil {
			return 0, 0, err
		}
		if err := os.WriteFile(filepath.Join(folder, "pause"), []byte(b.pause.String()), 0o644); err != nil {
			return 0, 0, err
		}
	}
	for range workers {
		slots := fmt.Sprint(b.slots)
		s, err := p.serve(ctx, home, dsn, "--role", "worker", "--can", "network", "--slots", slots, "--slots-per-provider",
			slots)
		if err != nil {
			return 0, 0, err
		}
		defer func() {
			_, stopErr := s.stop()
			err = errors.Join(err, stopErr)
		}()
	}
	opened, err := postgres.Open(ctx, dsn, postgres.Options{})
	if err != nil {
		return 0, 0, err
	}
	defer opened.Close()
	st := opened.(storetest.Writable)
	if err := plantWaiters(ctx, st, home, b.runs, providers...); err != nil {
		return 0, 0, err
	}
	idle, err := idleTicks()
	if err != nil {
		return 0, 0, err
	}
	begin := time.Now()
	err = until(ctx, time.Minute, "the backlog",
		counts(ctx, st, b.runs, `SELECT count(*) FROM run_history WHERE status = 'succeeded'`))
	if err != nil {
		return 0, 0, err
	}
	after, err := idleTicks()
	if err != nil {
		return 0, 0, err
	}
	busy = 100 - 100*(after-idle).Seconds()/(time.Since(begin).Seconds()*float64(runtime.NumCPU()))
	var first, last string
	if err := st.Writer().QueryRowContext(ctx, `SELECT min(started_at), max(completed_at) FROM run_history`).Scan(&first,
		&last); err != nil {
		return 0, 0, err
	}
	from, err := time.Parse(sqlstore.TimeLayout, first)
	to, err2 := time.Parse(sqlstore.TimeLayout, last)
	return float64(b.runs) / to.Sub(from).Seconds(), busy, errors.Join(err, err2)
}

// idleTicks is how long all cores together have had nothing to do.
func idleTicks() (time.Duration, error) {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, err
	}
	var user, nice, system, idle, wait int64
	if _, err := fmt.Sscanf(string(b), "cpu %d %d %d %d %d", &user, &nice, &system, &idle, &wait); err != nil {
		return 0, fmt.Errorf("read /proc/stat: %w", err)
	}
	return time.Duration(idle+wait) * tick, nil
}

// counts asks whether the query counts n.
func counts(ctx context.Context, st storetest.Writable, n int, query string) func() (bool, error) {
	return func() (bool, error) {
		var found int
		err := st.Writer().QueryRowContext(ctx, query).Scan(&found)
		return found >= n, err
	}
}
