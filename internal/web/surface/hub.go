// Package surface lets the owner see and use the page of a run's browser, so that they sign in where the session is
// needed. A hub connects runs that have such a page with the owner's browsers: pictures one way, input the other,
// only in memory. An uplink carries the pages of a process without a console to the hub of one that has it. Neither
// logs or stores any content, and they know neither the store nor what drives the page.
package surface

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"
)

const (
	// pauseAfter is how long an inactive viewer receives pictures.
	pauseAfter = 5 * time.Minute
	// endAfter is how long a page waits for an inactive viewer.
	endAfter = 30 * time.Minute
	// settleWithin bounds the answer to a question that the page itself has settled.
	settleWithin = 15 * time.Second
	// settleAgain is the pause before another try of it.
	settleAgain = 200 * time.Millisecond
)

// Meter counts traffic without content.
type Meter interface {
	SurfacePicture(bytes int)
	SurfaceInput()
	SurfaceWatched(time.Duration)
}

// Config is what a hub is made of.
type Config struct {
	// Answer ends a run's question: as done if the page reports so, or as refused if it was unused. Nil disables it.
	Answer func(ctx context.Context, runID string, done bool) error
	// Public is the address that owners reach this server by; empty means that of the listener.
	Public string
	// Machine names the machine that a run's browser is on, where its page has not come
	// here; nil means that all do.
	Machine func(ctx context.Context, runID string) string
	Meter   Meter // nil counts nothing
	Log     *slog.Logger
}

// Hub holds the pages of the runs in progress.
type Hub struct {
	Config
	tasks tasks

	mu    sync.Mutex
	pages map[string]*page // by run
	came  chan struct{}    // closed when a page is added, then replaced
}

// New returns a hub without pages. Pages and answers end with ctx; Wait returns after that.
func New(ctx context.Context, c Config) *Hub {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return &Hub{Config: c, tasks: tasks{ctx: ctx}, pages: map[string]*page{}, came: make(chan struct{})}
}

// Wait returns when the hub's context and everything that the hub started have ended.
func (h *Hub) Wait() { h.tasks.Wait() }

// Attach adds the channel of a run's page and returns at once. The page exists until the channel or the hub's context
// ends. Another channel of the same run replaces it.
func (h *Hub) Attach(runID string, conn io.ReadWriteCloser) { h.attach(runID, conn) }

func (h *Hub) attach(runID string, conn io.ReadWriteCloser) *page {
	p := newPage(h, runID, conn)
	h.mu.Lock()
	before := h.pages[runID]
	h.pages[runID] = p
	h.mu.Unlock()
	if before != nil {
		before.end(overGone)
	}
	stop := context.AfterFunc(h.tasks.ctx, func() { p.end(overGone) })
	h.tasks.start(p.write)
	h.tasks.start(func() {
		defer stop()
		why := p.read()
		h.mu.Lock()
		if h.pages[runID] == p {
			delete(h.pages, runID)
		}
		h.mu.Unlock()
		p.end(why)
	})
	return p
}

// pageToShow returns the page of a run if it can be shown, and a channel that is closed when that may have changed.
func (h *Hub) pageToShow(runID string) (*page, <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.pages[runID]
	if p == nil || !p.open() {
		return nil, h.came
	}
	return p, h.came
}

// wakeWaiting wakes those who wait for a page.
func (h *Hub) wakeWaiting() {
	h.mu.Lock()
	defer h.mu.Unlock()
	close(h.came)
	h.came = make(chan struct{})
}

// answer ends the question of a run. The question may be on its way to the store still, or
// the store be away for a moment.
func (h *Hub) answer(runID string, done bool) {
	if h.Answer == nil {
		return
	}
	ctx, cancel := context.WithTimeout(h.tasks.ctx, settleWithin)
	defer cancel()
	for {
		err := h.Answer(ctx, runID, done)
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			h.Log.Warn("the question of a page was not answered; it stays open", "run_id", runID, "error", err)
			return
		case <-time.After(settleAgain):
		}
	}
}

func (h *Hub) picture(bytes int) {
	if h.Meter != nil {
		h.Meter.SurfacePicture(bytes)
	}
}

func (h *Hub) input() {
	if h.Meter != nil {
		h.Meter.SurfaceInput()
	}
}

func (h *Hub) watched(d time.Duration) {
	if h.Meter != nil {
		h.Meter.SurfaceWatched(d)
	}
}
