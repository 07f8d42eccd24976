// Package service collects the sources of a device in the background. It watches their files and makes
// a pass after changes, at least once an hour. It sends heartbeats to the server, and it adapts to
// battery, network and sleep.
//
// The main files: plan.go schedules passes, watch.go detects changes, and power.go reads the battery.
package service

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"
	"time"
)

// Source is one profile at work.
type Source interface {
	ID() string
	// Roots returns the files and folders to watch for changes.
	Roots(ctx context.Context) []string
	// Pass collects and uploads once. While history waits, only what is new is collected.
	Pass(ctx context.Context, historyWaits bool) PassResult
	// Beat sends the source's status to the server and reports whether the owner requested a pass.
	Beat(ctx context.Context) (wanted bool)
}

// Service works for every source of this device.
type Service struct {
	// Sources are read again and again, so that one that is set up is taken up.
	Sources func() ([]Source, error)
	// Power is how the machine is supplied; nil means that nothing is known.
	Power func(ctx context.Context) Power
	// OnlyWhenCharging lets history wait while the machine runs on its battery.
	OnlyWhenCharging bool
	// Executable is this program's file; when another takes its place, Run ends.
	Executable string
	Log        *slog.Logger
}

// ErrUpgraded reports that the executable of this program was replaced.
var ErrUpgraded = errors.New("the program was replaced")

const (
	reloadEvery = time.Minute
	slept       = time.Minute // a jump of the clock that is a sleep
	together    = 2           // passes at a time
)

// Run works until ctx ends or the program is replaced; then it lets the passes that go on
// come to their end.
func (s *Service) Run(ctx context.Context) error {
	working, stop := context.WithCancel(ctx)
	defer stop()
	var all sync.WaitGroup
	defer all.Wait()
	slots := make(chan struct{}, together)
	running := map[string]context.CancelFunc{}
	born := executableOf(s.Executable)
	for {
		sources, err := s.Sources()
		if err != nil {
			s.Log.Error("cannot read the profiles", "error", err)
		}
		gone := running
		running = map[string]context.CancelFunc{}
		for _, source := range sources {
			id := source.ID()
			if end, known := gone[id]; known {
				running[id] = end
				delete(gone, id)
				continue
			}
			one, end := context.WithCancel(working)
			running[id] = end
			all.Go(func() { s.keep(one, source, slots) })
			s.Log.Info("watching", "source", id)
		}
		for id, end := range gone {
			if err == nil {
				end()
				s.Log.Info("no longer watching", "source", id)
			} else {
				running[id] = end
			}
		}
		if !pause(ctx, reloadEvery) {
			return nil
		}
		if now := executableOf(s.Executable); born != nil && now != nil &&
			(!os.SameFile(born, now) || !born.ModTime().Equal(now.ModTime())) {
			s.Log.Info("another version takes over")
			return ErrUpgraded
		}
	}
}

func executableOf(path string) os.FileInfo {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	return info
}

// pause waits and reports whether ctx still goes on.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// keep works for one source.
func (s *Service) keep(ctx context.Context, source Source, slots chan struct{}) {
	var p plan
	w := newWatch(source.Roots(ctx))
	awake := time.Now()
	for pause(ctx, p.look(time.Now())) {
		now := time.Now()
		if jumped(awake, now) {
			p.woke()
			s.Log.Info("woke up", "source", source.ID())
		}
		awake = now
		if w.look(now) {
			p.change(now)
		}
		if p.beatDue(now) && !p.passed.IsZero() {
			p.wanted = source.Beat(ctx) || p.wanted
			p.contact = time.Now()
		}
		if !p.due(now) && !p.mayCatchUp(now) {
			continue
		}
		waits := s.historyWaits(ctx)
		if p.asked = now; waits && !p.due(now) {
			continue
		}
		select {
		case slots <- struct{}{}:
		default:
			continue // the next look; heartbeats go on
		}
		p.began(waits)
		r, cut := s.pass(ctx, source, waits)
		<-slots
		p.ended(time.Now(), r)
		if cut { // what is new is looked at without history
			p.behind, p.owed = true, true
		}
		w.roots = source.Roots(ctx)
		awake = time.Now()
	}
}

// pass makes a pass and measures its cost. The cost includes concurrent passes of other sources, which
// only delays the next pass. If history has to wait, a pass that reads history is cancelled, and the
// collected data is kept.
func (s *Service) pass(ctx context.Context, source Source, historyWaits bool) (r PassResult, cut bool) {
	working, stop := context.WithCancel(ctx)
	var watching sync.WaitGroup
	if !historyWaits && s.Power != nil {
		watching.Go(func() {
			for pause(working, askEvery) {
				if s.historyWaits(working) && working.Err() == nil {
					cut = true
					stop()
				}
			}
		})
	}
	before, known := spent()
	began := time.Now()
	r = source.Pass(working, historyWaits)
	after, still := spent()
	stop()
	watching.Wait()
	if r.Cost = time.Since(began); known && still {
		r.Cost = after - before
	}
	return r, cut && ctx.Err() == nil
}

// jumped reports whether the machine slept: the wall clock went on and the other did not.
func jumped(before, now time.Time) bool {
	wall := now.Round(0).Sub(before.Round(0))
	return wall-now.Sub(before) > slept
}

// historyWaits asks how the machine is supplied.
func (s *Service) historyWaits(ctx context.Context) bool {
	if s.Power == nil {
		return false
	}
	supply := s.Power(ctx)
	return supply.Low() || s.OnlyWhenCharging && supply.OnBattery
}
