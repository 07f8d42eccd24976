package listdetail

import (
	"context"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/failure"
	"github.com/pdpp-go/pdpp/connectorkit/internal/runstate"
	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/protocol"
)

// windowPass is one walk over a window and the state of its detail work.
type windowPass struct {
	*listWalk
	stop      *runstate.LaneStop // set when no more fetches start
	accounted []Item             // items of the current slice that have an outcome
	newest    time.Time          // content time of the first item
	oldest    time.Time          // content time of the last item with an outcome
	expanded  *Item              // the held backlog gap of this window
	last      string             // key of the last item with an outcome
	tried     int                // parts that were read in this pass
	full      bool               // the pass has read as many parts as one may
}

// accountForItems accounts for the items: list records, then each detail or its gap. If fetching has stopped and the
// tail is bounded, the rest of the window goes into one backlog gap and the walk ends.
func (l *Run) accountForItems(ctx context.Context, p *windowPass, items []Item) (*protocol.KeyCoverage,
	error) {
	if l.Completed && l.detailing {
		l.short = map[string]bool{}
		for _, item := range items {
			if e := l.book.entries[item.Key]; !e.hydrated || !l.book.wasConsidered(item) {
				l.short[item.Key] = true
			}
		}
	} else if err := l.emitListed(ctx, items); err != nil {
		return nil, err
	}
	l.listed += len(items)
	l.recordMet(items)
	if p.newest.IsZero() && len(items) > 0 {
		p.newest = items[0].Time
	}
	if !l.detailing {
		p.accounted = items
		return &protocol.KeyCoverage{}, nil
	}
	if err := l.processDetails(ctx, p, items); err != nil {
		return nil, err
	}
	if l.Completed {
		rest := slices.DeleteFunc(slices.Clone(items), func(item Item) bool { return !l.short[item.Key] })
		if l.short = nil; len(rest) > 0 {
			if err := l.emitListed(ctx, rest); err != nil {
				return nil, err
			}
		}
	}
	var keys []string
	listed := map[string]bool{}
	for _, item := range p.accounted {
		if !listed[item.Key] {
			listed[item.Key] = true
			keys = append(keys, item.Key)
		}
	}
	if p.becomesBacklog(l.r.Tail) {
		key, err := l.foldIntoBacklog(ctx, p)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return l.book.keyCoverage(keys), nil
}

// emitListed sends the records of items as listed.
func (l *Run) emitListed(ctx context.Context, items []Item) error {
	var left runstate.SliceMismatches
	for _, item := range items {
		fault, err := l.r.EmitRecord(ctx, l.List, item.Record)
		if err != nil {
			return err
		}
		left.AddFault(fault)
	}
	return l.r.DeclareMismatches(ctx, l.List, &left)
}

// processDetails determines the outcome of each item. Items for the backlog return to the walk; a single last item gets
// its own gap instead.
func (l *Run) processDetails(ctx context.Context, p *windowPass, items []Item) error {
	defer l.cancelCalls()
	p.accounted = nil
	for i, item := range items {
		if p.stop == nil && !l.book.wasConsidered(item) && !l.needsNoRequest(item) && l.r.NextDetailCapped() {
			p.stop = runstate.RunCapStop
			if err := l.announceStop(ctx, p.stop); err != nil {
				return err
			}
		}
		if p.stop != nil {
			if err := l.postponeOmitted(ctx, p.stop, false); err != nil {
				return err
			}
		}
		var err error
		switch {
		case l.book.wasConsidered(item):
		case p.stop == nil && l.MostParts > 0 && p.tried >= l.MostParts:
			p.full, p.stop = true, runstate.RunCapStop
			p.buf = append(items[i:len(items):len(items)], p.buf...)
			return nil
		case p.stop == nil:
			p.tried++
			if err = l.fetchAhead(ctx, items[i:]); err == nil {
				err = l.forwardDetail(ctx, p, item)
			}
		case l.needsNoRequest(item):
			err = l.forwardDetail(ctx, p, item)
		case p.stop.Ends == "" && l.r.Tail.IsExhausted() && !p.wouldRepeatBacklog(p.restFrom(item)) &&
			(i+1 < len(items) || p.mayContinue()):
			p.buf = append(items[i:len(items):len(items)], p.buf...)
			return l.keepAhead(ctx, p, items[i:])
		default:
			if _, held := l.held[item.Key]; !held {
				l.r.Tail.CountGap()
			}
			err = l.declareGap(ctx, item, p.stop.Postponement, gapWasNotTried)
		}
		if err != nil {
			return err
		}
		p.accounted = append(p.accounted, item)
		p.oldest, p.last = item.Time, item.Key
	}
	return nil
}

// keepAhead emits details that were already fetched for items of the backlog.
func (l *Run) keepAhead(ctx context.Context, p *windowPass, items []Item) error {
	for _, item := range items {
		if !l.needsNoRequest(item) {
			continue
		}
		if err := l.forwardDetail(ctx, p, item); err != nil {
			return err
		}
	}
	return nil
}

func (l *Run) forwardDetail(ctx context.Context, p *windowPass, item Item) error {
	d, stop, err := l.fetchDetails(ctx, item)
	if err != nil {
		return err
	}
	if stop != nil {
		p.stop = stop
		if err := l.announceStop(ctx, stop); err != nil {
			return err
		}
	}
	return l.recordOutcome(ctx, item, d)
}

// recordOutcome records the result of an attempt, and closes the gap that this run holds for the item, if any.
func (l *Run) recordOutcome(ctx context.Context, item Item, d *runstate.Postponement) error {
	if d != nil && d.Gone {
		if l.short[item.Key] { // what is deleted existed before
			delete(l.short, item.Key)
			if err := l.emitListed(ctx, []Item{item}); err != nil {
				return err
			}
		}
		if err := l.deleteItem(ctx, item.Key); err != nil {
			return err
		}
	}
	if d != nil {
		return l.declareGap(ctx, item, *d, gapWasTried)
	}
	l.book.setOutcome(item.Key, true, item.Time)
	if l.Parts {
		l.Done(item.Key)
	}
	return l.closeHeldGap(ctx, item.Key)
}

// announceAttempt announces an attempt of a held gap.
func (l *Run) announceAttempt(ctx context.Context, key string) error {
	e, holding := l.held[key]
	if !holding {
		return nil
	}
	return l.r.Out.Send(ctx, &protocol.DetailGapAttempted{
		GapID: e.GapID, LeaseID: e.LeaseID, Stream: e.Stream, ReferenceOnly: true,
	})
}

// closeHeldGap closes a held gap. Its records precede the message.
func (l *Run) closeHeldGap(ctx context.Context, key string) error {
	e, holding := l.held[key]
	if !holding {
		return nil
	}
	delete(l.held, key)
	return l.r.Out.Send(ctx, &protocol.DetailGapRecovered{
		GapID: e.GapID, LeaseID: e.LeaseID, Stream: e.Stream, RecordKey: e.RecordKey, ReferenceOnly: true,
	})
}

// fetchDetails tries once to get an item's details and emits them. Without a deferral the item is hydrated. If this run
// holds the item's gap, the attempt is announced first.
func (l *Run) fetchDetails(ctx context.Context, item Item) (*runstate.Postponement, *runstate.LaneStop, error) {
	f, err := l.obtainDetails(ctx, item)
	if err != nil {
		return nil, nil, err
	}
	if f.deferral != nil {
		return f.deferral, nil, nil
	}
	if err := f.Err; err != nil {
		d, stop := l.postponementOf(failure.ClassifyError(err))
		l.r.Log.Warn("detail was not fetched", "stream", l.Detail, "reason", d.Reason, "cause", governhttp.WithoutURL(err))
		return &d, stop, l.r.ReportTransitions(ctx)
	}
	l.failures = 0
	if l.Parts {
		return nil, nil, l.emitPartRecords(ctx, f.Records)
	}
	var d *runstate.Postponement
	for _, rec := range f.Records {
		stream := l.Detail
		if rec.Listed {
			stream = l.List
			delete(l.short, item.Key)
		}
		fault, err := l.r.EmitRecord(ctx, stream, rec)
		if err != nil {
			return nil, nil, err
		}
		if fault != nil {
			l.r.Log.Warn("detail does not match its schema", "stream", l.Detail, "path", fault.Path)
			d = &runstate.Postponement{
				Reason: protocol.ReasonTemporaryUnavailable, Class: runstate.SchemaMismatch, Retryable: true,
			}
		}
	}
	return d, nil, nil
}

// announceStop informs the owner, once per lane, why the details stop here.
func (l *Run) announceStop(ctx context.Context, s *runstate.LaneStop) error {
	if l.announced {
		return nil
	}
	l.announced = true
	return l.r.Out.Send(ctx, &protocol.Progress{Stream: l.Detail, Message: protocol.OwnerCopy(s.Reason, s.Class)})
}
