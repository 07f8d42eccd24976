package surface

import (
	"context"

	"github.com/pdpp-go/pdpp/protocol/surface"
)

// looks asks for pictures as a viewer wants them now.
func (p *page) looks(v *viewer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if view, ok := v.wants(); ok && p.has == v && p.ready && !p.paused && view != p.shown {
		p.show(view)
	}
}

// wish does what a viewer asks for.
func (p *page) wish(v *viewer, w wish) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ready {
		return
	}
	if _, here := p.viewers[v]; here && w.Take {
		p.give(v)
	}
	if p.has == v && w.Go {
		p.touch()
		if p.paused {
			p.paused = false
			p.begins(v)
		}
	}
}

// pass hands on what the viewer does who has the page; from any other it is nothing.
func (p *page) pass(ctx context.Context, v *viewer, f surface.Frame, m surface.Message) error {
	p.mu.Lock()
	allowed := p.has == v && p.ready
	if allowed {
		switch m := m.(type) {
		case surface.Seen:
			if p.unseen != nil && *p.unseen == m {
				p.unseen = nil
			}
		case surface.Choose:
			forget(p.kept, m)
			p.touch()
		default:
			p.touch()
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

// forget drops a list or a dialog that was answered.
func forget(kept map[surface.Kind]surface.Frame, c surface.Choose) {
	for _, kind := range []surface.Kind{surface.KindChoices, surface.KindDialog} {
		m, err := surface.Parse(kept[kind])
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
