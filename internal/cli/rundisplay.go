package cli

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/keep/store"
)

// runDisplay follows a run and lets a painter show it at a steady pace, so that the
// run itself never waits for a terminal.
type runDisplay struct {
	painter painter // nil when nothing is to be shown
	every   time.Duration
	out     io.Writer
	name    string

	mu     sync.Mutex
	p      progress
	paused bool

	stop chan struct{}
	gone sync.WaitGroup
}

const (
	plainEvery = time.Second
	barEvery   = 120 * time.Millisecond
)

func (a *app) newRunDisplay(conn store.Connection) *runDisplay {
	v := &runDisplay{out: a.errOut, name: conn.DisplayName, stop: make(chan struct{})}
	if a.json {
		return v
	}
	if file, ok := terminal(a.errOut); ok {
		v.painter, v.every = newBar(file), barEvery
	} else {
		v.painter, v.every = &plainLines{w: a.errOut}, plainEvery
	}
	return v
}

// observe takes an update. Numbers never go back: an update from the commit
// path carries only what that path knows.
func (v *runDisplay) observe(u runner.Update) {
	v.mu.Lock()
	defer v.mu.Unlock()
	p := &v.p
	p.records, p.committed, p.gaps = max(p.records, u.Records, u.Committed), max(p.committed, u.Committed), max(p.gaps, u.Gaps)
	if u.Message != "" {
		p.stream, p.message, p.count, p.total = oneLine(u.Stream), oneLine(u.Message), u.Count, u.Total
	}
	if u.Rate != nil {
		p.rate = u.Rate
	}
}

func (v *runDisplay) started(runID string) {
	if v.painter != nil {
		v.say(fmt.Sprintf("%s: run %s", v.name, runID))
	}
}

// say writes a line of its own between two paintings.
func (v *runDisplay) say(line string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.painter.clear()
	printf(v.out, "%s\n", oneLine(line))
}

// begin starts painting. A cancellation is acknowledged at once, because the
// connector may take a moment to end.
func (v *runDisplay) begin(ctx context.Context) {
	if v.painter == nil {
		return
	}
	v.gone.Go(func() {
		tick := time.NewTicker(v.every)
		defer tick.Stop()
		cancelled := ctx.Done()
		for {
			select {
			case <-v.stop:
				return
			case <-cancelled:
				cancelled = nil
				v.say("Stopping; what is finished is kept. Press Ctrl-C again to leave at once.")
			case <-tick.C:
				v.paint()
			}
		}
	})
}

func (v *runDisplay) paint() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.paused {
		v.painter.paint(v.p)
	}
}

// pause clears the screen for a question, resume goes on.
func (v *runDisplay) pause() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.paused = true
	v.painter.clear()
}

func (v *runDisplay) resume() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.paused = false
}

// end stops painting and leaves the screen clean for the summary.
func (v *runDisplay) end() {
	if v.painter == nil {
		return
	}
	close(v.stop)
	v.gone.Wait()
	v.painter.clear()
}
