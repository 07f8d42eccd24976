package listdetail

import (
	"context"

	"github.com/pdpp-go/pdpp/connectorkit/failure"
	"github.com/pdpp-go/pdpp/connectorkit/internal/runstate"
	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// deletesWithDetail reports whether an item is deleted with its detail, and the list stream supports deletions.
func (l *Run) deletesWithDetail() bool {
	s := l.r.Scope[l.List]
	return l.GoneWithDetail && s != nil && s.Stream.Semantics == manifest.MutableState
}

// postponementOf returns what a failed fetch means for its item, and for the items after it.
func (l *Run) postponementOf(e *failure.Error) (runstate.Postponement, *runstate.LaneStop) {
	if s := runstate.ChosenStop(e.Stopped); s != nil {
		return s.Postponement, s
	}
	d := runstate.Postponement{
		Reason: protocol.ReasonTemporaryUnavailable, Class: string(e.Class), Status: e.Status,
		Retryable: true, RetryAfter: e.RetryAfter, Since: l.r.Now(),
	}
	l.failures++
	switch e.Class {
	case failure.RateLimited:
		own, rest := runstate.PostponedByLimit(e), runstate.SourcePressure
		own.Since, rest.Since, rest.RetryAfter = d.Since, d.Since, e.RetryAfter
		return own, &runstate.LaneStop{Postponement: rest}
	case failure.Unauthorized:
		d.Reason = protocol.ReasonAuthFailure
		return d, &runstate.LaneStop{Ends: e.Class, Postponement: runstate.Postponement{
			Reason: d.Reason, Class: d.Class, Retryable: true,
		}}
	case failure.Challenge:
		own, rest := runstate.SourcePressure, runstate.SourcePressure
		own.Status = e.Status
		return own, &runstate.LaneStop{Ends: e.Class, Postponement: rest}
	case failure.NotFound, failure.Gone, failure.Forbidden:
		l.failures = 0 // a clear and final response
		d.Reason, d.Retryable, d.Gone = protocol.Reason(e.Class), false, e.Class == failure.Gone && l.deletesWithDetail()
		return d, nil
	case failure.Unavailable:
		if governhttp.UnreachableHost(e.Err) != "" {
			return d, &runstate.LaneStop{Postponement: d} // the others would fail too
		}
		if l.failures >= l.r.Knobs.DensityStop {
			return d, &runstate.LaneStop{Postponement: runstate.SourcePressure}
		}
	default:
		if l.failures >= l.r.Knobs.DensityStop {
			return d, &runstate.LaneStop{Postponement: runstate.Postponement{Reason: d.Reason, Class: d.Class, Retryable: true}}
		}
	}
	return d, nil
}

// gapOutcome is how a gap message relates to the gap that this run may hold.
type gapOutcome bool

const (
	gapWasTried    gapOutcome = true  // the item was attempted: this settles a held gap
	gapWasNotTried gapOutcome = false // it was not: a held gap stays as it is
)

// declareGap declares an item's detail as missing.
func (l *Run) declareGap(ctx context.Context, item Item, d runstate.Postponement, o gapOutcome) error {
	return l.declareGapAt(ctx, item, TimeWindow{Before: item.Time}, d, o)
}

func (l *Run) declareGapAt(ctx context.Context, item Item, at TimeWindow, d runstate.Postponement, o gapOutcome) error {
	l.book.setOutcome(item.Key, false, item.Time)
	held, holding := l.held[item.Key]
	if holding && o == gapWasNotTried {
		return nil
	}
	g := runstate.NewGapMessage(d, l.r.Now())
	g.Stream, g.ParentStream, g.RecordKey, g.DetailLocator = l.Detail, l.List, protocol.WireKey(item.Key), item.Locator
	if !item.Locator.IsValid() || item.Locator.Kind() != '{' {
		g.DetailLocator = nil // the key must suffice
	}
	if !at.Before.IsZero() || at.After != "" {
		g.ListCursor = runstate.EncodeBookmark(at)
	}
	if holding {
		g.GapID, g.LeaseID = held.GapID, held.LeaseID
		delete(l.held, item.Key)
	}
	return l.r.Out.Send(ctx, g)
}
