package connectorkit

import (
	"context"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"pdpp/protocol"
)

// forward first finishes the window that an earlier run left open, then walks
// from the newest item down to the watermark.
func (l *lane) forward(ctx context.Context) error {
	if !l.detailing {
		return l.listOnly(ctx)
	}
	if span, open := windowOf(l.r.stored(l.anchor, protocol.CatchUp)); open {
		p := &pass{walk: l.walk(span, nil)}
		err := l.drain(ctx, p, func(account *protocol.KeyCoverage) error {
			return l.stateCatchUp(ctx, p, account)
		})
		if err != nil {
			return err
		}
		if p.stop != nil && !p.stop.cap {
			return &cut{p.stop.deferral} // the watermark stands; what is newer waits for the next run
		}
	}
	if err := l.fromTheTop(ctx); err != nil {
		return err
	}
	return l.takeCensus(ctx)
}

// drain walks a pass to its end. commit closes each slice.
func (l *lane) drain(ctx context.Context, p *pass, commit func(*protocol.KeyCoverage) error) error {
	for p.more() {
		items, err := p.next(ctx)
		if err != nil {
			return err
		}
		if len(items) == 0 && p.more() {
			continue
		}
		account, err := l.slice(ctx, p, items)
		if err != nil {
			return err
		}
		if err := commit(account); err != nil {
			return err
		}
		if err := l.r.report(ctx, l.anchor, l.listed, p.total, !p.more()); err != nil {
			return err
		}
		if err := l.r.out.flush(ctx); err != nil {
			return err
		}
		if p.stop != nil && p.stop.ends != "" {
			return Fail(p.stop.ends, nil)
		}
	}
	return nil
}

// fromTheTop collects what is new. The watermark moves with the first slice, and
// the catch-up window that accounts for the rest is stored before it; so at every
// moment each listed item is stored, a gap, or inside that window (PB-10).
func (l *lane) fromTheTop(ctx context.Context) error {
	floor, seen := l.steady.detailed(), l.steady.Seen
	if l.steady.Behind {
		seen = nil
	}
	p := &pass{walk: l.walk(window{Floor: floor}, seen)}
	opened := l.r.start.CollectionMode == protocol.FullRefresh // an older window is void
	top := topmost{floor: floor, seen: seen}
	var sent string
	return l.drain(ctx, p, func(account *protocol.KeyCoverage) error {
		if p.more() {
			opened = true
			if err := l.stateCatchUp(ctx, p, account); err != nil {
				return err
			}
		}
		mark := l.unchanged
		if top.add(p); !p.newest.IsZero() {
			mark = encode(steady{
				Watermark: p.newest.UTC(), Seen: top.keys(p.newest, l.r.p.Now()), Known: l.steady.Known, Census: l.steady.Census,
			})
		}
		if string(mark) != sent {
			sent = string(mark)
			if err := l.state(ctx, protocol.SteadyState, mark, account); err != nil {
				return err
			}
		}
		if opened && !p.more() {
			return l.stateCatchUp(ctx, p, account)
		}
		return nil
	})
}

// listOnly collects the list while the detail stream is out of scope. It keeps
// its hands off the catch-up window, which promises details, and notes how far
// the details lag behind. The watermark moves at the end only.
func (l *lane) listOnly(ctx context.Context) error {
	p := &pass{walk: l.walk(window{Floor: l.steady.Watermark}, l.steady.Seen)}
	top := topmost{floor: l.steady.Watermark, seen: l.steady.Seen}
	return l.drain(ctx, p, func(account *protocol.KeyCoverage) error {
		top.add(p)
		mark := l.unchanged
		if !p.more() && !p.newest.IsZero() {
			mark = encode(steady{
				Watermark: p.newest.UTC(), Seen: top.keys(p.newest, l.r.p.Now()), Behind: true, Detailed: l.steady.detailed(),
				Known: l.steady.Known, Census: l.steady.Census,
			})
		}
		return l.state(ctx, protocol.SteadyState, mark, account)
	})
}

// topmost gathers the keys at the newest instant of a pass.
type topmost struct {
	floor time.Time
	seen  []string // on the floor, from the stored bookmark
	begun bool
}

func (t *topmost) add(p *pass) {
	if !t.begun && !p.newest.IsZero() {
		t.begun = true
		if !p.newest.Equal(t.floor) {
			t.seen = nil
		}
	}
	for _, item := range p.accounted {
		if item.Time.Equal(p.newest) && !slices.Contains(t.seen, item.Key) && len(t.seen) <= maxSeen {
			t.seen = append(t.seen, item.Key)
		}
	}
}

// keys is nil when there are too many to keep, or when the instant is so recent
// that the items may still change within it.
func (t *topmost) keys(newest, now time.Time) []string {
	if len(t.seen) > maxSeen || now.Sub(newest) < settled {
		return nil
	}
	return t.seen
}

// stateCatchUp stores how far the pass is: what remains of its window, or that
// nothing does.
func (l *lane) stateCatchUp(ctx context.Context, p *pass, account *protocol.KeyCoverage) error {
	mark := jsontext.Value("null")
	if p.more() {
		mark = encode(window{Before: p.oldest.UTC(), Floor: p.span.Floor.UTC()})
	}
	return l.state(ctx, protocol.CatchUp, mark, account)
}

// state closes a slice. The account lets it commit by itself; it belongs to a
// bookmark that anchors the lane.
func (l *lane) state(ctx context.Context, mode protocol.CursorMode, mark jsontext.Value, account *protocol.KeyCoverage) error {
	m := &protocol.State{Stream: l.anchor, Mode: mode, Cursor: mark}
	if l.anchor == l.List {
		m.Accounted = account
	}
	return l.r.state(ctx, m)
}
