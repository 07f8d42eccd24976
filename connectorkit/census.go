package connectorkit

import (
	"context"
	"maps"
	"slices"
	"time"

	"pdpp/governor/governhttp"
	"pdpp/protocol"
)

const (
	// maxKnown bounds the keys on the bookmark that absence is judged by.
	maxKnown = 16_000
	// censusAsks bounds how many missing items are asked for in one run.
	censusAsks = 20
)

// A list that is read newest first down to a watermark shows no deletion. So the whole of it is
// walked now and then, and what is not met there is asked for by itself: only what the provider
// then calls gone is deleted. A list that shifts while it is read, or ends early, costs a request
// and deletes nothing.

// meet notes what the list has.
func (l *lane) meet(items []Item) {
	if l.Census <= 0 {
		return
	}
	if l.met == nil {
		l.met = map[string]bool{}
		for _, key := range l.steady.Known {
			l.met[key] = true
		}
	}
	for _, item := range items {
		if item.Key != "" && !l.met[item.Key] {
			l.met[item.Key], l.metMore = true, true
		}
	}
}

// takeCensus walks the whole list where that is due, and keeps what is known of it.
func (l *lane) takeCensus(ctx context.Context) error {
	scope := l.r.scope[l.List]
	if l.Census <= 0 || scope == nil || scope.resources != nil || scope.bounded || l.anchor != l.List {
		return nil
	}
	l.meet(nil)
	at, now := l.steady.Census, l.r.p.Now()
	switch {
	case len(l.met) > maxKnown:
		l.r.log.Warn("deletions are not looked for: the list is too long to be remembered", "stream", l.List, "items", len(l.met))
		l.met, at, l.metMore = map[string]bool{}, time.Time{}, len(l.steady.Known) > 0
	case at.IsZero():
		at, l.metMore = now, true
	case now.Sub(at) >= l.Census && !l.announced && !l.r.spent() && !l.r.late():
		done, err := l.count(ctx)
		if err != nil {
			return err
		}
		if l.metMore = true; done {
			at = now
		}
	}
	if !l.metMore {
		return nil
	}
	mark := l.r.bookmarks.sent[l.anchor]
	if mark == nil {
		mark = l.unchanged
	}
	kept := steadyOf(mark)
	kept.Known, kept.Census = slices.Sorted(maps.Keys(l.met)), at.UTC()
	return l.state(ctx, protocol.SteadyState, encode(kept), &protocol.KeyCoverage{})
}

// count walks the list and deletes what it has no more. False means that it is to be done
// again: the list was not read to its end, or not everything that is missing was asked for.
func (l *lane) count(ctx context.Context) (bool, error) {
	found, err := l.everything(ctx)
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	if err != nil {
		l.r.log.Warn("deletions were not looked for", "stream", l.List, "cause", governhttp.WithoutURL(err))
		return false, nil
	}
	gone := maps.Clone(l.met)
	maps.DeleteFunc(gone, func(key string, _ bool) bool { return found[key] })
	maps.Copy(l.met, found)
	for i, key := range slices.Sorted(maps.Keys(gone)) {
		if i == censusAsks || l.r.spent() || l.r.late() {
			return false, nil
		}
		cost := l.r.openBill()
		_, err := patiently(ctx, l.r, func() ([]Record, error) {
			defer cost.payFor(1)
			return l.Fetch(ctx, Item{Key: key})
		})
		switch {
		case ctx.Err() != nil:
			return false, context.Cause(ctx)
		case err == nil:
			continue // the list does not show it, and it is there
		case classify(err).Class != Gone:
			l.r.log.Warn("a missing item could not be asked for", "stream", l.List, "cause", governhttp.WithoutURL(err))
			return false, nil
		}
		if _, err := l.r.emit(ctx, l.List, Delete(key)); err != nil {
			return false, err
		}
		delete(l.met, key)
	}
	return true, nil
}

// everything walks the whole list and gives its keys.
func (l *lane) everything(ctx context.Context) (map[string]bool, error) {
	found := map[string]bool{}
	w := l.walk(window{}, nil)
	for w.more() {
		items, err := w.next(ctx)
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			found[item.Key] = true
		}
	}
	return found, nil
}
