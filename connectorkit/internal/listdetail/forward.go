package listdetail

import (
	"context"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit/failure"
	"github.com/pdpp-go/pdpp/connectorkit/internal/runstate"
	"github.com/pdpp-go/pdpp/protocol"
)

// CollectForward first finishes the window that an earlier run left open, then walks from the newest item down to the
// watermark.
func (l *Run) CollectForward(ctx context.Context) error {
	if l.Parts {
		return l.collectParts(ctx)
	}
	if !l.detailing {
		return l.collectListOnly(ctx)
	}
	if span, open := ReadWindow(l.r.StoredBookmark(l.anchor, protocol.CatchUp)); open {
		p := &windowPass{listWalk: l.newListWalk(span, nil)}
		err := l.drainPass(ctx, p, func(account *protocol.KeyCoverage) error {
			return l.stateCatchUp(ctx, p, account)
		})
		if err != nil {
			return err
		}
		if p.stop != nil && !p.stop.Cap {
			// The watermark stays; newer items wait for the next run.
			return &runstate.ListCutError{Postponement: p.stop.Postponement}
		}
	}
	if err := l.collectNewest(ctx); err != nil {
		return err
	}
	return l.fullScan(ctx)
}

// drainPass walks a pass to its end. commit closes each slice.
func (l *Run) drainPass(ctx context.Context, p *windowPass, commit func(*protocol.KeyCoverage) error) error {
	for p.mayContinue() {
		items, err := p.nextSlice(ctx)
		if err != nil {
			return err
		}
		if len(items) == 0 && p.mayContinue() {
			continue
		}
		account, err := l.accountForItems(ctx, p, items)
		if err != nil {
			return err
		}
		if err := commit(account); err != nil {
			return err
		}
		if err := l.r.ReportProgress(ctx, l.anchor, l.listed, p.total, !p.mayContinue()); err != nil {
			return err
		}
		if err := l.r.Out.Flush(ctx); err != nil {
			return err
		}
		if p.stop != nil && p.stop.Ends != "" {
			return failure.Fail(p.stop.Ends, nil)
		}
	}
	return nil
}

// collectNewest collects new items. The watermark moves with the first slice, and the catch-up window for the rest
// is stored before it. So each listed item is always stored, a gap, or inside that window (PB-10).
func (l *Run) collectNewest(ctx context.Context) error {
	floor, seen := l.steady.DetailedUntil(), l.steady.Seen
	if l.steady.Behind {
		seen = nil
	}
	p := &windowPass{listWalk: l.newListWalk(TimeWindow{Floor: floor}, seen)}
	opened := l.r.Start.CollectionMode == protocol.FullRefresh // an older window is void
	top := newestKeys{floor: floor, seen: seen}
	var sent string
	return l.drainPass(ctx, p, func(account *protocol.KeyCoverage) error {
		if p.mayContinue() {
			opened = true
			if err := l.stateCatchUp(ctx, p, account); err != nil {
				return err
			}
		}
		mark := l.unchanged
		if top.addNewest(p); !p.newest.IsZero() {
			mark = runstate.EncodeBookmark(SteadyBookmark{
				Watermark: p.newest.UTC(), Seen: top.keysAtNewest(p.newest, l.r.Now()), Known: l.steady.Known,
				Census: l.steady.Census,
			})
		}
		if string(mark) != sent {
			sent = string(mark)
			if err := l.sendSliceState(ctx, protocol.SteadyState, mark, account); err != nil {
				return err
			}
		}
		if opened && !p.mayContinue() {
			return l.stateCatchUp(ctx, p, account)
		}
		return nil
	})
}

// collectListOnly collects the list while the detail stream is out of scope. It does not change the catch-up window,
// which promises details, and records how far the details lag behind. The watermark moves only at the end.
func (l *Run) collectListOnly(ctx context.Context) error {
	p := &windowPass{listWalk: l.newListWalk(TimeWindow{Floor: l.steady.Watermark}, l.steady.Seen)}
	top := newestKeys{floor: l.steady.Watermark, seen: l.steady.Seen}
	return l.drainPass(ctx, p, func(account *protocol.KeyCoverage) error {
		top.addNewest(p)
		mark := l.unchanged
		if !p.mayContinue() && !p.newest.IsZero() {
			mark = runstate.EncodeBookmark(SteadyBookmark{
				Watermark: p.newest.UTC(), Seen: top.keysAtNewest(p.newest, l.r.Now()), Behind: true,
				Detailed: l.steady.DetailedUntil(),
				Known:    l.steady.Known, Census: l.steady.Census,
			})
		}
		return l.sendSliceState(ctx, protocol.SteadyState, mark, account)
	})
}

// newestKeys collects the keys at the newest instant of a pass.
type newestKeys struct {
	floor time.Time
	seen  []string // at the floor, from the stored bookmark
	begun bool
}

func (t *newestKeys) addNewest(p *windowPass) {
	if !t.begun && !p.newest.IsZero() {
		t.begun = true
		if !p.newest.Equal(t.floor) {
			t.seen = nil
		}
	}
	for _, item := range p.accounted {
		if item.Time.Equal(p.newest) && !slices.Contains(t.seen, item.Key) && len(t.seen) <= MaxSeenKeys {
			t.seen = append(t.seen, item.Key)
		}
	}
}

// keysAtNewest returns nil if there are too many keys, or if the instant is so recent that the items may still change.
func (t *newestKeys) keysAtNewest(newest, now time.Time) []string {
	if len(t.seen) > MaxSeenKeys || now.Sub(newest) < SettledAge {
		return nil
	}
	return t.seen
}

// stateCatchUp stores the progress of the pass: the rest of its window, or nothing.
func (l *Run) stateCatchUp(ctx context.Context, p *windowPass, account *protocol.KeyCoverage) error {
	mark := jsontext.Value("null")
	if p.mayContinue() {
		mark = runstate.EncodeBookmark(TimeWindow{Before: p.oldest.UTC(), Floor: p.span.Floor.UTC()})
	}
	return l.sendSliceState(ctx, protocol.CatchUp, mark, account)
}

// sendSliceState closes a slice. The account lets it commit separately; it belongs to a bookmark that anchors the lane.
func (l *Run) sendSliceState(
	ctx context.Context,
	mode protocol.CursorMode,
	mark jsontext.Value,
	account *protocol.KeyCoverage,
) error {
	if l.Parts {
		return l.sendPartState(ctx, false)
	}
	m := &protocol.State{Stream: l.anchor, Mode: mode, Cursor: mark}
	if l.anchor == l.List {
		m.Accounted = account
	}
	return l.r.SendState(ctx, m)
}
