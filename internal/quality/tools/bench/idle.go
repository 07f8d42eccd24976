package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/storetest"
)

const (
	idleConnections = 20
	idleTime        = 20 * time.Second
	restarts        = 5
)

// measureIdle measures a server that has nothing to do: its connections have run
// and are not due for a day.
func measureIdle(ctx context.Context, _ config, dir string, r *report) error {
	p, err := build(ctx, dir)
	if err != nil {
		return err
	}
	home, err := os.MkdirTemp(dir, "idle-")
	if err != nil {
		return err
	}
	if _, err := installWaiter(p.waiter, home, "waiter"); err != nil {
		return err
	}
	if err := p.settle(ctx, home); err != nil {
		return fmt.Errorf("make a home: %w", err)
	}
	ready, gone := math.Inf(1), 0.0
	for i := range restarts {
		s, err := p.idleServer(ctx, home)
		if err != nil {
			return err
		}
		ready = min(ready, s.ready.Seconds()*1000)
		if i == 0 {
			err = r.restIdle(ctx, s)
		}
		took, stopErr := s.stop()
		if err := errors.Join(err, stopErr); err != nil {
			return err
		}
		gone = max(gone, took.Seconds())
	}
	r.tell(figure{Name: "server from start to ready", Value: ready, Unit: "ms", Below: 150,
		Note: fmt.Sprintf("best of %d", restarts)})
	r.tell(figure{Name: "idle server from SIGTERM to its end", Value: gone, Unit: "s", Below: 2,
		Note: fmt.Sprintf("worst of %d", restarts)})
	return nil
}

func (p programs) idleServer(ctx context.Context, home string, more ...string) (*server, error) {
	return p.serve(ctx, home, "", append([]string{"--listen", "127.0.0.1:0"}, more...)...)
}

// settle makes the home: every connection runs once.
func (p programs) settle(ctx context.Context, home string) (err error) {
	slots := fmt.Sprint(idleConnections)
	s, err := p.idleServer(ctx, home, "--slots", slots, "--slots-per-provider", slots)
	if err != nil {
		return err
	}
	defer func() {
		_, stopErr := s.stop()
		err = errors.Join(err, stopErr)
	}()
	opened, err := sqlite.Open(ctx, filepath.Join(home, "pdpp.db"), sqlite.Options{})
	if err != nil {
		return err
	}
	defer opened.Close()
	st := opened.(storetest.Writable)
	if err := plantWaiters(ctx, st, home, idleConnections, "waiter"); err != nil {
		return err
	}
	return until(ctx, time.Minute, "the first runs",
		counts(ctx, st, idleConnections, `SELECT count(*) FROM run_history WHERE status = 'succeeded'`))
}

// settling is how long a server runs before it counts as idle. The cost of its start is a separate
// figure.
const settling = 2 * time.Second

// rest sends no requests to the server for the duration d. It returns the used share of a core in
// percent, and the memory at the end in MiB.
func (s *server) rest(ctx context.Context, d time.Duration) (cpu, rss float64, err error) {
	var used [2]time.Duration
	for i, wait := range []time.Duration{settling, d} {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return 0, 0, ctx.Err()
		}
		if used[i], err = s.cpu(); err != nil {
			return 0, 0, err
		}
	}
	rss, err = s.rss()
	return 100 * (used[1] - used[0]).Seconds() / d.Seconds(), rss, err
}

func (r *report) restIdle(ctx context.Context, s *server) error {
	cpu, rss, err := s.rest(ctx, idleTime)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("idle server, %d connections: ", idleConnections)
	r.tell(figure{Name: name + "RSS", Value: rss, Unit: "MiB", Below: 45})
	r.tell(figure{Name: name + "CPU", Value: cpu, Unit: "% of a core", Below: 0.3,
		Note: fmt.Sprintf("over %.0f s", idleTime.Seconds())})
	return nil
}
