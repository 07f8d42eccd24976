package listdetail

import (
	"context"
	"errors"

	"github.com/pdpp-go/pdpp/connectorkit/failure"
	"github.com/pdpp-go/pdpp/connectorkit/internal/runstate"
	"github.com/pdpp-go/pdpp/protocol"
)

// RecoverGaps fetches what earlier runs left out, before anything new. Pages are transport batches: it requests
// pages until one is empty (PB-11). A spent budget or the provider's pressure ends recovery, not the run:
// unserved gaps stay pending, and the forward pass continues within the rest of the budget (RC-04).
// The streams are those in scope, the lists those of all collectors. keep gets every gap that is not of a list.
func RecoverGaps(ctx context.Context, r *runstate.Run, lanes []*Run, streams, lists []string,
	keep func(protocol.GapEntry)) error {
	defer func() {
		for _, l := range lanes {
			l.cancelCalls()
		}
	}()
	served := map[string]bool{}
	page := r.Start.DetailGaps
	for len(streams) > 0 && len(page) > 0 {
		fresh := false
		for _, e := range page {
			if served[e.GapID] {
				continue
			}
			served[e.GapID], fresh = true, true
			if r.HoldListGap(lists, e) {
				continue // the forward pass continues the list
			}
			keep(e)
			if l := laneForGap(lanes, e); l != nil {
				l.held[string(e.RecordKey)] = e
			}
		}
		var halt *runstate.LaneStop
		for i, e := range page {
			l := laneForGap(lanes, e)
			if l == nil || l.held[string(e.RecordKey)].GapID != e.GapID {
				continue // not ours, or settled while a backlog was expanded
			}
			if halt != nil && !halt.Cap && !l.needsNoRequest(itemOfGap(e)) {
				continue // no more requests to the provider; fetched details are kept
			}
			if halt == nil {
				if err := l.recoverAhead(ctx, page[i:]); err != nil {
					return err
				}
			}
			stop, err := l.recoverGap(ctx, e)
			if err != nil {
				return err
			}
			if stop == nil {
				continue
			}
			if halt == nil || halt.Cap {
				halt = stop
			}
			if err := l.postponeOmitted(ctx, halt, false); err != nil {
				return err
			}
		}
		if err := r.Out.Flush(ctx); err != nil {
			return err
		}
		if halt != nil || !fresh {
			return nil
		}
		m, err := r.RequestReply(ctx, protocol.TypeDetailGapsPageResponse, func(id string) protocol.Message {
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
func laneForGap(lanes []*Run, e protocol.GapEntry) *Run {
	for _, l := range lanes {
		if l.detailing && l.Detail == e.Stream && (e.ParentStream == l.List || e.ParentStream == "") && e.RecordKey != "" {
			return l
		}
	}
	return nil
}

// recoverGap tries one served gap. If the budget is spent, only a backlog makes progress, by writing its next chunk.
func (l *Run) recoverGap(ctx context.Context, e protocol.GapEntry) (*runstate.LaneStop, error) {
	if span, backlog, ours := l.backlogWindow(e); ours {
		return l.expandBacklog(ctx, e, span)
	} else if backlog {
		return nil, nil
	}
	if err := l.beginWalk(ctx); err != nil {
		return nil, err
	}
	item := itemOfGap(e)
	if !l.needsNoRequest(item) && l.r.NextDetailCapped() {
		return runstate.RunCapStop, l.announceStop(ctx, runstate.RunCapStop)
	}
	d, stop, err := l.fetchDetails(ctx, item)
	if err != nil {
		return nil, err
	}
	if err := l.recordOutcome(ctx, item, d); err != nil {
		return nil, err
	}
	if stop != nil && stop.Ends != "" {
		if err := l.postponeOmitted(ctx, stop, true); err != nil {
			return nil, err
		}
		return nil, failure.Fail(stop.Ends, nil)
	}
	return stop, nil
}

// expandBacklog lists the window of a backlog gap again, newest first: it fetches within the budget, writes the next
// chunk of gaps, and leaves a smaller backlog for the rest. Every expansion makes progress, even with a spent
// budget, unless this run has already written its chunk; then the backlog stays unchanged.
func (l *Run) expandBacklog(ctx context.Context, e protocol.GapEntry, span TimeWindow) (*runstate.LaneStop, error) {
	if l.r.TimeIsUp() || l.r.CapIsReached() && l.r.Tail.IsExhausted() {
		return runstate.RunCapStop, nil
	}
	item := itemOfGap(e)
	if err := l.announceAttempt(ctx, item.Key); err != nil {
		return nil, err
	}
	p := &windowPass{listWalk: l.newListWalk(span, nil), expanded: &item}
	err := l.drainPass(ctx, p, func(account *protocol.KeyCoverage) error {
		return l.sendSliceState(ctx, protocol.SteadyState, l.unchanged, account)
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var defect *failure.RunFailure
	switch {
	case errors.As(err, &defect):
		return nil, err
	case err != nil:
		d, stop := l.postponementOf(failure.ClassifyError(err))
		if !d.Retryable { // the list failed, not the items of the gap
			d.Reason, d.Retryable = protocol.ReasonTemporaryUnavailable, true
		}
		if err := l.declareBacklog(ctx, item, span, d, gapWasTried); err != nil {
			return nil, err
		}
		if stop != nil && stop.Ends != "" {
			return nil, failure.Fail(stop.Ends, nil)
		}
		return stop, nil
	}
	return p.stop, l.closeHeldGap(ctx, item.Key)
}
