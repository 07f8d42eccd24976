package runs

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// runDisplay collects the progress of a run and paints it at a fixed interval, so that the run never waits for a
// terminal.
type runDisplay struct {
	painter progressPainter // nil when nothing is to be shown
	every   time.Duration
	out     io.Writer
	name    string

	mu     sync.Mutex
	p      runProgressState
	paused bool

	stop chan struct{}
	gone sync.WaitGroup
}

const (
	plainLineInterval   = time.Second
	progressBarInterval = 120 * time.Millisecond
)

func newRunDisplay(inv *command.Invocation, conn store.Connection) *runDisplay {
	v := &runDisplay{out: inv.ErrOut, name: conn.DisplayName, stop: make(chan struct{})}
	if inv.JSON {
		return v
	}
	if file, ok := output.TerminalFile(inv.ErrOut); ok {
		v.painter, v.every = newProgressBar(file), progressBarInterval
	} else {
		v.painter, v.every = &plainLinePainter{w: inv.ErrOut}, plainLineInterval
	}
	return v
}

// observe adds an update. Numbers never decrease: an update from the commit path has only its own numbers.
func (v *runDisplay) observe(u runner.Update) {
	v.mu.Lock()
	defer v.mu.Unlock()
	p := &v.p
	p.records, p.committed, p.gaps = max(p.records, u.Records, u.Committed), max(p.committed, u.Committed),
		max(p.gaps, u.Gaps)
	if u.Message != "" {
		p.stream, p.message, p.count, p.total = output.SingleLine(u.Stream), output.SingleLine(u.Message), u.Count, u.Total
	}
	if u.Rate != nil {
		p.rate = u.Rate
	}
}

func (v *runDisplay) started(runID string) {
	if v.painter != nil {
		v.printLine(fmt.Sprintf("%s: run %s", v.name, runID))
	}
}

// printLine prints a line between two frames.
func (v *runDisplay) printLine(line string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.painter.clear()
	output.Printf(v.out, "%s\n", output.SingleLine(line))
}

// begin starts painting. It reports a cancellation at once, because the connector may need time to end.
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
				v.printLine("Stopping; what is finished is kept. Press Ctrl-C again to leave at once.")
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

// Pause clears the screen for a question. Resume continues.
func (v *runDisplay) Pause() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.paused = true
	v.painter.clear()
}

func (v *runDisplay) Resume() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.paused = false
}

// end stops painting and clears the screen for the summary.
func (v *runDisplay) end() {
	if v.painter == nil {
		return
	}
	close(v.stop)
	v.gone.Wait()
	v.painter.clear()
}
