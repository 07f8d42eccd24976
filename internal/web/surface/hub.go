// Package surface lets the owner see and use the page that a run's browser shows, so that
// they sign in where the session is needed. A hub stands between the runs that have such a
// page and the browsers of the owner: pictures one way, input the other, over memory alone.
// An uplink brings the pages of a process without a console into the hub of one that has it.
// Neither logs or keeps anything of them, and they know neither the store nor what drives
// the page.
package surface

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"
)

const (
	// pauseAfter is how long pictures are made for somebody who does nothing.
	pauseAfter = 5 * time.Minute
	// endAfter is how long a page waits for somebody who does nothing.
	endAfter = 30 * time.Minute
	// settleWithin bounds the answer to a question that the page itself has settled.
	settleWithin = 15 * time.Second
	// settleAgain is the pause before another try of it.
	settleAgain = 200 * time.Millisecond
)

// Meter counts what passes, and nothing of what it says.
type Meter interface {
	SurfacePicture(bytes int)
	SurfaceInput()
	SurfaceWatched(time.Duration)
}

// Config is what a hub is made of.
type Config struct {
	// Answer ends what a run asks the owner: as done when the page says that it is, or as
	// refused when nobody came. Nil means that pages end nothing.
	Answer func(ctx context.Context, runID string, done bool) error
	// Public is the address that owners reach this server by; empty means that of the listener.
	Public string
	// Machine names the machine that a run's browser is on, where its page has not come
	// here; nil means that all do.
	Machine func(ctx context.Context, runID string) string
	Meter   Meter // nil counts nothing
	Log     *slog.Logger
}

// Hub holds the pages of the runs under way.
type Hub struct {
	Config

	mu    sync.Mutex
	pages map[string]*page // by run
	came  chan struct{}    // closed when a page is added, and made anew
}

// New makes a hub without pages.
func New(c Config) *Hub {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return &Hub{Config: c, pages: map[string]*page{}, came: make(chan struct{})}
}

// Attach takes the channel of a run's page, and returns at once. The page is there until the
// channel ends; another of the same run takes its place.
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
	go p.write()
	go func() {
		why := p.read()
		h.mu.Lock()
		if h.pages[runID] == p {
			delete(h.pages, runID)
		}
		h.mu.Unlock()
		p.end(why)
	}()
	return p
}

// at gives the page of a run that can be shown, and what is closed when that may have changed.
func (h *Hub) at(runID string) (*page, <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.pages[runID]
	if p == nil || !p.open() {
		return nil, h.came
	}
	return p, h.came
}

// ring tells those who wait for a page to look again.
func (h *Hub) ring() {
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
	ctx, cancel := context.WithTimeout(context.Background(), settleWithin)
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
