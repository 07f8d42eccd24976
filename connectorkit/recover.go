package connectorkit

import (
	"context"
	"errors"
	"slices"

	"github.com/pdpp-go/pdpp/protocol"
)

// recoverGaps fetches what earlier runs left out, before anything new. Pages are transport batches: it requests
// pages until one is empty (PB-11). A spent budget or the provider's pressure ends recovery, not the run:
// unserved gaps stay pending, and the forward pass continues within the rest of the budget (RC-04).
func (r *runState) recoverGaps(ctx context.Context, workers []collectorRun) error {
	var lanes []*listDetailRun
	var feeds []*Push
	var streams []string
	for _, w := range workers {
		for _, name := range w.streams() {
			if r.scope[name] != nil {
				streams = append(streams, name)
			}
		}
		if l, ok := w.(*listDetailRun); ok && l.detailing {
			lanes = append(lanes, l)
		}
		if f, ok := w.(*Push); ok {
			feeds = append(feeds, f)
		}
	}
	defer func() {
		for _, l := range lanes {
			l.cancelCalls()
		}
	}()
	served := map[string]bool{}
	page := r.start.DetailGaps
	for len(streams) > 0 && len(page) > 0 {
		fresh := false
		for _, e := range page {
			if served[e.GapID] {
				continue
			}
			served[e.GapID], fresh = true, true
			if r.hold(workers, e) {
				continue // the forward pass continues the list
			}
			for _, f := range feeds {
				if e.RecordKey != "" && slices.Contains(f.selected, e.Stream) {
					f.gaps[e.Stream+"\x00"+string(e.RecordKey)] = e
				}
			}
			if l := laneForGap(lanes, e); l != nil {
				l.held[string(e.RecordKey)] = e
			}
		}
		var halt *laneStop
		for i, e := range page {
			l := laneForGap(lanes, e)
			if l == nil || l.held[string(e.RecordKey)].GapID != e.GapID {
				continue // not ours, or settled while a backlog was expanded
			}
			if halt != nil && !halt.cap && !l.known(itemOfGap(e)) {
				continue // no more requests to the provider; fetched details are kept
			}
			if halt == nil {
				if err := l.recoverAhead(ctx, page[i:]); err != nil {
					return err
				}
			}
			stop, err := l.recover(ctx, e)
			if err != nil {
				return err
			}
			if stop == nil {
				continue
			}
			if halt == nil || halt.cap {
				halt = stop
			}
			if err := l.putOff(ctx, halt, false); err != nil {
				return err
			}
		}
		if err := r.out.flush(ctx); err != nil {
			return err
		}
		if halt != nil || !fresh {
			return nil
		}
		m, err := r.ask(ctx, protocol.TypeDetailGapsPageResponse, func(id string) protocol.Message {
			return &protocol.DetailGapsPageRequest{RequestID: id, Streams: streams, ReferenceOnly: true}
		})
		if err != nil {
			return err
		}
		page = m.(*protocol.DetailGapsPageResponse).DetailGaps
	}
	return nil
}

// laneForGap returns the lane of a gap, or nil if this run has none.
func laneForGap(lanes []*listDetailRun, e protocol.GapEntry) *listDetailRun {
	for _, l := range lanes {
		if l.Detail == e.Stream && (e.ParentStream == l.List || e.ParentStream == "") && e.RecordKey != "" {
			return l
		}
	}
	return nil
}

// recover tries one served gap. If the budget is spent, only a backlog makes progress, by writing its next chunk.
func (l *listDetailRun) recover(ctx context.Context, e protocol.GapEntry) (*laneStop, error) {
	if span, backlog, ours := l.backlogWindow(e); ours {
		return l.expand(ctx, e, span)
	} else if backlog {
		return nil, nil
	}
	item := itemOfGap(e)
	if !l.known(item) && l.r.capped() {
		return capStop, l.announce(ctx, capStop)
	}
	d, stop, err := l.fetch(ctx, item)
	if err != nil {
		return nil, err
	}
	if err := l.settle(ctx, item, d); err != nil {
		return nil, err
	}
	if stop != nil && stop.ends != "" {
		if err := l.putOff(ctx, stop, true); err != nil {
			return nil, err
		}
		return nil, Fail(stop.ends, nil)
	}
	return stop, nil
}

// expand lists the window of a backlog gap again, newest first: it fetches within the budget, writes the next
// chunk of gaps, and leaves a smaller backlog for the rest. Every expansion makes progress, even with a spent
// budget, unless this run has already written its chunk; then the backlog stays unchanged.
func (l *listDetailRun) expand(ctx context.Context, e protocol.GapEntry, span timeWindow) (*laneStop, error) {
	if l.r.late() || l.r.spent() && l.r.tail.full() {
		return capStop, nil
	}
	item := itemOfGap(e)
	if err := l.attempted(ctx, item.Key); err != nil {
		return nil, err
	}
	p := &windowPass{listWalk: l.walk(span, nil), expanded: &item}
	err := l.drain(ctx, p, func(account *protocol.KeyCoverage) error {
		return l.state(ctx, protocol.SteadyState, l.unchanged, account)
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var defect *runFailure
	switch {
	case errors.As(err, &defect):
		return nil, err
	case err != nil:
		d, stop := l.postponementOf(classify(err))
		if !d.retryable { // the list failed, not the items of the gap
			d.reason, d.retryable = protocol.ReasonTemporaryUnavailable, true
		}
		if err := l.backlog(ctx, item, span, d, wasTried); err != nil {
			return nil, err
		}
		if stop != nil && stop.ends != "" {
			return nil, Fail(stop.ends, nil)
		}
		return stop, nil
	}
	return p.stop, l.recovered(ctx, item.Key)
}
