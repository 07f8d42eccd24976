package surface

import (
	"context"

	"github.com/pdpp-go/pdpp/protocol/surface"
)

// applyView asks for pictures as a viewer wants them now.
func (p *page) applyView(v *viewer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if view, ok := v.wants(); ok && p.has == v && p.ready && !p.paused && view != p.shown {
		p.requestPictures(view)
	}
}

// viewerRequest does what a viewer asks for.
func (p *page) applyWish(v *viewer, w viewerRequest) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ready {
		return
	}
	if _, here := p.viewers[v]; here && w.Take {
		p.giveControl(v)
	}
	if p.has == v && w.Go {
		p.resetTimers()
		if p.paused {
			p.paused = false
			p.startViewing(v)
		}
	}
}

// forwardInput hands on what the viewer does who has the page; from any other it is nothing.
func (p *page) forwardInput(ctx context.Context, v *viewer, f surface.Frame, m surface.PageMessage) error {
	p.mu.Lock()
	allowed := p.has == v && p.ready
	if allowed {
		switch m := m.(type) {
		case surface.Seen:
			if p.unseen != nil && *p.unseen == m {
				p.unseen = nil
			}
		case surface.Choose:
			dropAnswered(p.kept, m)
			p.resetTimers()
		default:
			p.resetTimers()
		}
		allowed = !p.paused
	}
	p.mu.Unlock()
	if !allowed {
		return nil
	}
	if f.Kind != surface.KindSeen {
		p.hub.input()
	}
	select {
	case p.out <- f:
		return nil
	case <-p.gone:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// dropAnswered drops a list or a dialog that was answered.
func dropAnswered(kept map[surface.FrameKind]surface.Frame, c surface.Choose) {
	for _, kind := range []surface.FrameKind{surface.KindChoices, surface.KindDialog} {
		m, err := surface.ParseFrame(kept[kind])
		switch m := m.(type) {
		case surface.Choices:
			if err == nil && m.ID == c.ID {
				delete(kept, kind)
			}
		case surface.Dialog:
			if err == nil && m.ID == c.ID {
				delete(kept, kind)
			}
		}
	}
}
