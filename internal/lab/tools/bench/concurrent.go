package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/pdpp-go/pdpp/internal/keep/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/keep/store/storetest"
)

// fewAtOnce and manyAtOnce are runs under way together on one worker. What one
// of them costs should be the same in both.
const fewAtOnce, manyAtOnce = 250, 1000

// holding is how long the runs are kept under way: longer than it takes each to
// renew its lease once.
const holding = 7 * time.Second

// crowd is what runs that are under way together cost their worker, without
// their own processes.
type crowd struct {
	begin, hold, end time.Duration // CPU: until all run, while they wait, until all are over
	rise, fall       time.Duration // elapsed, until all run and until all are over
	rss, before      float64       // MiB, with all under way and before the first
	runs             float64
}

func (c crowd) cpuEach() float64 { return (c.begin + c.hold + c.end).Seconds() * 1000 / c.runs }
func (c crowd) kibEach() float64 { return (c.rss - c.before) * 1024 / c.runs }

// measureConcurrent keeps many runs of a connector that does nothing under way.
func measureConcurrent(ctx context.Context, _ config, dir string, r *report) error {
	p, err := build(ctx, dir)
	if err != nil {
		return err
	}
	few, err := p.crowd(ctx, dir, fewAtOnce)
	if err != nil {
		return fmt.Errorf("%d runs at once: %w", fewAtOnce, err)
	}
	many, err := p.crowd(ctx, dir, manyAtOnce)
	if err != nil {
		return fmt.Errorf("%d runs at once: %w", manyAtOnce, err)
	}
	r.tell(figure{Name: "worker's CPU per run, 1000 at once against 250", Value: many.cpuEach() / few.cpuEach(), Unit: "times as much", Below: 1.3,
		Note: fmt.Sprintf("%.1f against %.1f ms", many.cpuEach(), few.cpuEach())})
	r.tell(figure{Name: "worker's RSS per run, 1000 at once against 250", Value: many.kibEach() / few.kibEach(), Unit: "times as much", Below: 1.3,
		Note: fmt.Sprintf("%.0f against %.0f KiB", many.kibEach(), few.kibEach())})
	r.tell(figure{Name: "worker's RSS with 1000 runs under way", Value: many.rss, Unit: "MiB", Below: 256, Note: fmt.Sprintf("%.1f before the first", many.before)})
	r.tell(figure{Name: "worker's CPU while 1000 runs only wait", Value: 100 * many.hold.Seconds() / holding.Seconds(), Unit: "%",
		Note: fmt.Sprintf("%.1f %% with 250; each renews its lease", 100*few.hold.Seconds()/holding.Seconds())})
	r.tell(figure{Name: "1000 runs started", Value: many.runs / many.rise.Seconds(), Unit: "/s", Note: fmt.Sprintf(
		"all under way after %.1f s, all over %.1f s after their connectors ended", many.rise.Seconds(), many.fall.Seconds())})
	return nil
}

// crowd starts a worker, gives it n due connections, and lets their connectors
// end together once all are under way.
func (p programs) crowd(ctx context.Context, dir string, n int) (c crowd, err error) {
	c.runs = float64(n)
	home, err := os.MkdirTemp(dir, "crowd-")
	if err != nil {
		return c, err
	}
	folder, err := installWaiter(p.waiter, home, "waiter")
	if err != nil {
		return c, err
	}
	gate := filepath.Join(folder, "gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		return c, err
	}
	slots := fmt.Sprint(n)
	s, err := p.serve(ctx, home, "", "--role", "worker", "--can", "network", "--slots", slots, "--slots-per-provider", slots)
	if err != nil {
		return c, err
	}
	defer func() {
		_, stopErr := s.stop()
		err = errors.Join(err, stopErr)
	}()
	opened, err := sqlite.Open(ctx, filepath.Join(home, "pdpp.db"), sqlite.Options{})
	if err != nil {
		return c, err
	}
	defer opened.Close()
	return c, c.watch(ctx, s, opened.(storetest.Writable), home, gate, n)
}

func (c *crowd) watch(ctx context.Context, s *server, st storetest.Writable, home, gate string, n int) (err error) {
	if c.before, err = s.rss(); err != nil {
		return err
	}
	begin, zero := time.Now(), time.Duration(0)
	lap := func(since *time.Duration) (used time.Duration, err error) {
		now, err := s.cpu()
		used, *since = now-*since, now
		return used, err
	}
	if _, err := lap(&zero); err != nil {
		return err
	}
	if err := plantWaiters(ctx, st, home, n, "waiter"); err != nil {
		return err
	}
	err = until(ctx, time.Minute, "all runs under way", counts(ctx, st, n, `SELECT count(*) FROM run_leases WHERE run_id IS NOT NULL`))
	if err != nil {
		return err
	}
	c.rise = time.Since(begin)
	if c.begin, err = lap(&zero); err != nil {
		return err
	}
	select {
	case <-time.After(holding):
	case <-ctx.Done():
		return ctx.Err()
	}
	if c.hold, err = lap(&zero); err != nil {
		return err
	}
	if c.rss, err = s.rss(); err != nil {
		return err
	}
	open, err := os.OpenFile(gate, os.O_RDWR, 0) // does not wait for a reader, and lets late ones through
	if err != nil {
		return err
	}
	defer open.Close()
	begin = time.Now()
	if err := until(ctx, time.Minute, "all runs over", counts(ctx, st, n, `SELECT count(*) FROM run_history WHERE status = 'succeeded'`)); err != nil {
		return err
	}
	c.fall = time.Since(begin)
	c.end, err = lap(&zero)
	return err
}

// counts asks whether the query counts n.
func counts(ctx context.Context, st storetest.Writable, n int, query string) func() (bool, error) {
	return func() (bool, error) {
		var found int
		err := st.Writer().QueryRowContext(ctx, query).Scan(&found)
		return found >= n, err
	}
}
