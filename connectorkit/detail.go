package connectorkit

import (
	"context"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/protocol"
)

// windowPass is one walk over a window and the state of its detail work.
type windowPass struct {
	*listWalk
	stop      *laneStop // set when no more fetches start
	accounted []Item    // items of the current slice that have an outcome
	newest    time.Time // content time of the first item
	oldest    time.Time // content time of the last item with an outcome
	expanded  *Item     // the held backlog gap of this window
}

// slice accounts for the items: list records, then each detail or its gap. If fetching has stopped and the tail
// is bounded, the rest of the window goes into one backlog gap and the walk ends.
func (l *listDetailRun) slice(ctx context.Context, p *windowPass, items []Item) (*protocol.KeyCoverage, error) {
	if l.Completed && l.detailing {
		l.short = map[string]bool{}
		for _, item := range items {
			if e := l.book.entries[item.Key]; !e.hydrated || !l.book.handled(item) {
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
	if err := l.details(ctx, p, items); err != nil {
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
	if p.folds(l.r.tail) {
		key, err := l.fold(ctx, p)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return l.book.coverage(keys), nil
}

// emitListed sends the records of items as listed.
func (l *listDetailRun) emitListed(ctx context.Context, items []Item) error {
	var left sliceMismatches
	for _, item := range items {
		fault, err := l.r.emit(ctx, l.List, item.Record)
		if err != nil {
			return err
		}
		left.add(fault)
	}
	return l.r.declare(ctx, l.List, &left)
}

// details determines the outcome of each item. Items for the backlog return to the walk; a single last item gets
// its own gap instead.
func (l *listDetailRun) details(ctx context.Context, p *windowPass, items []Item) error {
	defer l.cancelCalls()
	p.accounted = nil
	for i, item := range items {
		if p.stop == nil && !l.book.handled(item) && !l.known(item) && l.r.capped() {
			p.stop = capStop
			if err := l.announce(ctx, p.stop); err != nil {
				return err
			}
		}
		if p.stop != nil {
			if err := l.putOff(ctx, p.stop, false); err != nil {
				return err
			}
		}
		var err error
		switch {
		case l.book.handled(item):
		case p.stop == nil:
			if err = l.fetchAhead(ctx, items[i:]); err == nil {
				err = l.forwardDetail(ctx, p, item)
			}
		case l.known(item):
			err = l.forwardDetail(ctx, p, item)
		case p.stop.ends == "" && l.r.tail.full() && !p.stuck(item.Time) && (i+1 < len(items) || p.more()):
			p.buf = append(items[i:len(items):len(items)], p.buf...)
			return l.keepAhead(ctx, p, items[i:])
		default:
			if _, held := l.held[item.Key]; !held {
				l.r.tail.take()
			}
			err = l.gap(ctx, item, p.stop.postponement, wasNotTried)
		}
		if err != nil {
			return err
		}
		p.accounted = append(p.accounted, item)
		p.oldest = item.Time
	}
	return nil
}

// keepAhead emits details that were already fetched for items of the backlog.
func (l *listDetailRun) keepAhead(ctx context.Context, p *windowPass, items []Item) error {
	for _, item := range items {
		if !l.known(item) {
			continue
		}
		if err := l.forwardDetail(ctx, p, item); err != nil {
			return err
		}
	}
	return nil
}

func (l *listDetailRun) forwardDetail(ctx context.Context, p *windowPass, item Item) error {
	d, stop, err := l.fetch(ctx, item)
	if err != nil {
		return err
	}
	if stop != nil {
		p.stop = stop
		if err := l.announce(ctx, stop); err != nil {
			return err
		}
	}
	return l.settle(ctx, item, d)
}

// settle records the result of an attempt, and closes the gap that this run holds for the item, if any.
func (l *listDetailRun) settle(ctx context.Context, item Item, d *postponement) error {
	if d != nil && d.gone {
		if l.short[item.Key] { // what is deleted existed before
			delete(l.short, item.Key)
			if err := l.emitListed(ctx, []Item{item}); err != nil {
				return err
			}
		}
		if err := l.remove(ctx, item.Key); err != nil {
			return err
		}
	}
	if d != nil {
		return l.gap(ctx, item, *d, wasTried)
	}
	l.book.set(item.Key, true, item.Time)
	return l.recovered(ctx, item.Key)
}

// attempted announces an attempt of a held gap.
func (l *listDetailRun) attempted(ctx context.Context, key string) error {
	e, holding := l.held[key]
	if !holding {
		return nil
	}
	return l.r.out.send(ctx, &protocol.DetailGapAttempted{
		GapID: e.GapID, LeaseID: e.LeaseID, Stream: e.Stream, ReferenceOnly: true,
	})
}

// recovered closes a held gap. Its records precede the message.
func (l *listDetailRun) recovered(ctx context.Context, key string) error {
	e, holding := l.held[key]
	if !holding {
		return nil
	}
	delete(l.held, key)
	return l.r.out.send(ctx, &protocol.DetailGapRecovered{
		GapID: e.GapID, LeaseID: e.LeaseID, Stream: e.Stream, RecordKey: e.RecordKey, ReferenceOnly: true,
	})
}

// fetch tries once to get an item's details and emits them. Without a deferral the item is hydrated. If this run
// holds the item's gap, the attempt is announced first.
func (l *listDetailRun) fetch(ctx context.Context, item Item) (*postponement, *laneStop, error) {
	f, err := l.obtain(ctx, item)
	if err != nil {
		return nil, nil, err
	}
	if f.deferral != nil {
		return f.deferral, nil, nil
	}
	if err := f.Err; err != nil {
		d, stop := l.postponementOf(classify(err))
		l.r.log.Warn("detail was not fetched", "stream", l.Detail, "reason", d.reason, "cause", governhttp.WithoutURL(err))
		return &d, stop, l.r.transitions(ctx)
	}
	l.failures = 0
	var d *postponement
	for _, rec := range f.Records {
		stream := l.Detail
		if rec.listed {
			stream = l.List
			delete(l.short, item.Key)
		}
		fault, err := l.r.emit(ctx, stream, rec)
		if err != nil {
			return nil, nil, err
		}
		if fault != nil {
			l.r.log.Warn("detail does not match its schema", "stream", l.Detail, "path", fault.Path)
			d = &postponement{reason: protocol.ReasonTemporaryUnavailable, class: schemaMismatch, retryable: true}
		}
	}
	return d, nil, nil
}

// announce informs the owner, once per lane, why the details stop here.
func (l *listDetailRun) announce(ctx context.Context, s *laneStop) error {
	if l.announced {
		return nil
	}
	l.announced = true
	return l.r.out.send(ctx, &protocol.Progress{Stream: l.Detail, Message: protocol.OwnerCopy(s.reason, s.class)})
}
