package connectorkit

import (
	"context"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/protocol"
)

// forward first finishes the window that an earlier run left open, then walks from the newest item down to the
// watermark.
func (l *listDetailRun) forward(ctx context.Context) error {
	if !l.detailing {
		return l.listOnly(ctx)
	}
	if span, open := readWindow(l.r.stored(l.anchor, protocol.CatchUp)); open {
		p := &windowPass{listWalk: l.walk(span, nil)}
		err := l.drain(ctx, p, func(account *protocol.KeyCoverage) error {
			return l.stateCatchUp(ctx, p, account)
		})
		if err != nil {
			return err
		}
		if p.stop != nil && !p.stop.cap {
			return &listCut{p.stop.postponement} // the watermark stays; newer items wait for the next run
		}
	}
	if err := l.collectNewest(ctx); err != nil {
		return err
	}
	return l.fullScan(ctx)
}

// drain walks a pass to its end. commit closes each slice.
func (l *listDetailRun) drain(ctx context.Context, p *windowPass, commit func(*protocol.KeyCoverage) error) error {
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

// collectNewest collects new items. The watermark moves with the first slice, and the catch-up window for the rest
// is stored before it. So each listed item is always stored, a gap, or inside that window (PB-10).
func (l *listDetailRun) collectNewest(ctx context.Context) error {
	floor, seen := l.steady.detailed(), l.steady.Seen
	if l.steady.Behind {
		seen = nil
	}
	p := &windowPass{listWalk: l.walk(timeWindow{Floor: floor}, seen)}
	opened := l.r.start.CollectionMode == protocol.FullRefresh // an older window is void
	top := newestKeys{floor: floor, seen: seen}
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
			mark = encode(steadyBookmark{
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

// listOnly collects the list while the detail stream is out of scope. It does not change the catch-up window,
// which promises details, and records how far the details lag behind. The watermark moves only at the end.
func (l *listDetailRun) listOnly(ctx context.Context) error {
	p := &windowPass{listWalk: l.walk(timeWindow{Floor: l.steady.Watermark}, l.steady.Seen)}
	top := newestKeys{floor: l.steady.Watermark, seen: l.steady.Seen}
	return l.drain(ctx, p, func(account *protocol.KeyCoverage) error {
		top.add(p)
		mark := l.unchanged
		if !p.more() && !p.newest.IsZero() {
			mark = encode(steadyBookmark{
				Watermark: p.newest.UTC(), Seen: top.keys(p.newest, l.r.p.Now()), Behind: true, Detailed: l.steady.detailed(),
				Known: l.steady.Known, Census: l.steady.Census,
			})
		}
		return l.state(ctx, protocol.SteadyState, mark, account)
	})
}

// newestKeys collects the keys at the newest instant of a pass.
type newestKeys struct {
	floor time.Time
	seen  []string // at the floor, from the stored bookmark
	begun bool
}

func (t *newestKeys) add(p *windowPass) {
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

// keys returns nil if there are too many keys, or if the instant is so recent that the items may still change.
func (t *newestKeys) keys(newest, now time.Time) []string {
	if len(t.seen) > maxSeen || now.Sub(newest) < settledAge {
		return nil
	}
	return t.seen
}

// stateCatchUp stores the progress of the pass: the rest of its window, or nothing.
func (l *listDetailRun) stateCatchUp(ctx context.Context, p *windowPass, account *protocol.KeyCoverage) error {
	mark := jsontext.Value("null")
	if p.more() {
		mark = encode(timeWindow{Before: p.oldest.UTC(), Floor: p.span.Floor.UTC()})
	}
	return l.state(ctx, protocol.CatchUp, mark, account)
}

// state closes a slice. The account lets it commit separately; it belongs to a bookmark that anchors the lane.
func (l *listDetailRun) state(
	ctx context.Context,
	mode protocol.CursorMode,
	mark jsontext.Value,
	account *protocol.KeyCoverage,
) error {
	m := &protocol.State{Stream: l.anchor, Mode: mode, Cursor: mark}
	if l.anchor == l.List {
		m.Accounted = account
	}
	return l.r.state(ctx, m)
}
