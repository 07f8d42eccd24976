package surface

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/protocol/surface"
)

// lookEvery is how often the hub checks that the owner may still look and is still asked. openEvery is the interval
// before the page is shown.
const (
	lookEvery = 500 * time.Millisecond
	openEvery = 100 * time.Millisecond
)

// elsewhereAfter is how long a page may take to arrive before the owner sees which machine it is on.
const elsewhereAfter = 15 * time.Second

// attendance is the connection of one window to whatever page its owner is asked to use.
type attendance struct {
	hub    *Hub
	link   link
	viewer *viewer
	look   *time.Ticker

	began    time.Time
	watching time.Time // when the current page was joined
	lost     bool      // the page was shown and its channel broke
	located  bool      // the window knows which machine the page is on

	mu   sync.Mutex
	page *page // nil while none is shown
}

// attend shows a window the page of the question that its owner is asked. It returns when may returns false, the
// window closes or the page is over. If the page's channel breaks, it waits for another one while the question is
// open. It reads from the link until open ends, so that the caller can close the link properly.
func (h *Hub) attend(open context.Context, l link, may func(context.Context) (Asked, bool)) error {
	ctx, cancel := context.WithCancelCause(open)
	defer cancel(nil)
	a := &attendance{hub: h, link: l, viewer: newViewer(), look: time.NewTicker(openEvery), began: time.Now()}
	defer a.look.Stop()
	go func() { cancel(h.receiveInput(open, l, a.viewer, a.current)) }()
	defer a.leave()
	if err := l.tell(ctx, viewerNote{State: stateOpening}); err != nil {
		return err
	}
	for {
		_, came := h.pageToShow("")
		asked, allowed := may(ctx)
		if !allowed {
			return nil
		}
		if over, err := a.update(ctx, asked); over || err != nil {
			return err
		}
		if a.current() != nil {
			came = nil
		}
		if over, err := a.await(ctx, came); over || err != nil {
			return err
		}
	}
}

func (a *attendance) current() *page {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.page
}

func (a *attendance) setPage(p *page) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.page = p
}

// leave removes the viewer from its page, so that later input is ignored.
func (a *attendance) leave() {
	if p := a.current(); p != nil {
		p.leave(a.viewer)
		a.hub.watched(time.Since(a.watching))
	}
}

// update joins the page of the question, and reports whether the question that was shown is over.
func (a *attendance) update(ctx context.Context, asked Asked) (over bool, err error) {
	p, shown := a.current(), a.viewer.asked
	other := asked.RunID != shown.RunID || asked.Question != shown.Question
	switch {
	case p == nil && asked.RunID == "" && shown.RunID != "", (p != nil || a.lost) && other:
		return true, a.link.tell(ctx, viewerNote{State: stateOver, Why: overClosed})
	case p == nil && asked.RunID != "":
		a.viewer.asked = asked
		if asked.Question != "" {
			return false, a.join(ctx, asked.RunID)
		}
	}
	return false, nil
}

// join shows the page of the run if it is here. If it does not arrive in time, the window learns its machine.
func (a *attendance) join(ctx context.Context, runID string) error {
	if found, _ := a.hub.pageToShow(runID); found != nil && found.join(a.viewer) {
		a.setPage(found)
		found.applyView(a.viewer) // the window may have sent its size meanwhile
		a.watching, a.lost = time.Now(), false
		a.look.Reset(lookEvery)
		return nil
	}
	if a.located || a.hub.Machine == nil || time.Since(a.began) < elsewhereAfter {
		return nil
	}
	a.located = true
	return a.link.tell(ctx, viewerNote{State: stateOpening, Machine: a.hub.Machine(ctx, runID)})
}

// await sends the window what arrives for it, until it is time to check the question again. It reports whether the
// page is over.
func (a *attendance) await(ctx context.Context, came <-chan struct{}) (over bool, err error) {
	for {
		select {
		case <-ctx.Done():
			if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
				return true, cause
			}
			return true, nil
		case <-a.look.C:
			return false, nil
		case <-came:
			return false, nil
		case <-a.viewer.news:
			ended, why, err := a.hub.deliverTo(ctx, a.link, a.viewer)
			switch {
			case err != nil:
				return true, err
			case ended && why == overGone:
				return false, a.lose(ctx)
			case ended:
				return true, a.link.tell(ctx, viewerNote{State: stateOver, Why: why})
			}
		}
	}
}

// lose prepares the window for another channel of the page.
func (a *attendance) lose(ctx context.Context) error {
	a.setPage(nil)
	a.hub.watched(time.Since(a.watching))
	a.lost = true
	a.viewer.resetForReturn()
	return a.link.tell(ctx, viewerNote{State: stateLost})
}

// deliverTo sends the window what has arrived for it. It reports whether the page is over, and why.
func (h *Hub) deliverTo(ctx context.Context, l link, v *viewer) (bool, endReason, error) {
	t := v.takePending()
	if t.lost {
		return true, "", errBehind
	}
	for _, item := range t.line {
		var err error
		switch item := item.(type) {
		case viewerNote:
			err = l.tell(ctx, item)
		case surface.Frame:
			if err = l.send(ctx, item); err == nil && item.Kind == surface.KindPicture {
				h.picture(len(item.Payload))
			}
		}
		if err != nil {
			return true, "", err
		}
	}
	return t.done, t.why, nil
}

// receiveInput takes what a window sends, at most so much in a second; more waits.
func (h *Hub) receiveInput(ctx context.Context, l link, v *viewer, at func() *page) error {
	pace := newInputLimiter()
	for {
		f, w, err := l.receive(ctx)
		if err != nil {
			return err
		}
		if err := pace.wait(ctx); err != nil {
			return err
		}
		if f.Kind == 0 {
			if p := at(); p != nil {
				p.applyWish(v, w)
			}
			continue
		}
		m, err := surface.ParseFrame(f)
		if err != nil {
			return errBadInput
		}
		switch m := m.(type) {
		case surface.View:
			m.Paused = false // only the hub pauses
			v.put(func() { v.view = m })
			if p := at(); p != nil { // asked after, as one that comes meanwhile sees what was put
				p.applyView(v)
			}
		case surface.Seen, surface.Input, surface.Choose:
			if p := at(); p != nil {
				if err := p.forwardInput(ctx, v, f, m); err != nil {
					return err
				}
			}
		default:
			return errBadInput // only a connector sends this
		}
	}
}
