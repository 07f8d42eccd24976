package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/pdpp-go/pdpp/internal/device/service"
)

// unchanging is a source of which nothing changes. Its passes cost nothing.
type unchanging struct{ root string }

func (unchanging) ID() string                                    { return "unchanging" }
func (u unchanging) Roots(context.Context) []string              { return []string{u.root} }
func (unchanging) Pass(context.Context, bool) service.PassResult { return service.PassResult{} }
func (unchanging) Beat(context.Context) bool                     { return false }

// idleService measures the service of a computer with so many files of which none changes: what it takes
// to look at them, and a pass in an hour.
func idleService(ctx context.Context, home string, n int, watched time.Duration, pass float64, r *report) error {
	const settled = 5 * time.Second // its first look and its first pass are over
	if watched <= settled {
		return nil
	}
	running, stop := context.WithTimeout(ctx, settled+watched)
	defer stop()
	s := service.Service{Sources: func() ([]service.Source, error) { return []service.Source{unchanging{home}}, nil },
		Log: slog.New(slog.DiscardHandler)}
	ended := make(chan error, 1)
	go func() { ended <- s.Run(running) }()
	select {
	case <-time.After(settled):
	case err := <-ended:
		return err
	}
	before, err := ownCPU()
	if err != nil {
		return err
	}
	if err := <-ended; err != nil || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	after, err := ownCPU()
	if err != nil {
		return err
	}
	looks := 100 * (after - before).Seconds() / watched.Seconds()
	r.tell(figure{Name: fmt.Sprintf("idle device with %d files", n), Value: looks + 100*pass/time.Hour.Seconds(),
		Unit: "% of a core", Below: map[bool]float64{true: 0.1, false: 0.6}[n <= 10_000],
		Note: fmt.Sprintf("watched for %s; an hourly pass is %.4f of it", watched, 100*pass/time.Hour.Seconds())})
	return nil
}
