package connectorkit

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/protocol"
)

const (
	// maxKnownKeys bounds the keys on the bookmark of a list with full scans.
	maxKnownKeys = 16_000
	// maxScanRequests bounds how many missing items are requested in one run.
	maxScanRequests = 20
)

// A list that is read newest first down to a watermark shows no deletion. So the whole list is scanned from time
// to time, and missing items are requested separately: only items that the provider reports as gone are deleted.
// A list that shifts while it is read, or ends early, costs a request and deletes nothing. New items below the
// watermark are collected, because some lists show items long after their time.

// recordMet records the items of the list.
func (l *listDetailRun) recordMet(items []Item) {
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

// fullScan scans the whole list if that is due, and stores the known keys.
func (l *listDetailRun) fullScan(ctx context.Context) error {
	scope := l.r.scope[l.List]
	if l.Census <= 0 || scope == nil || scope.resources != nil || scope.bounded || l.anchor != l.List {
		return nil
	}
	l.recordMet(nil)
	at, now := l.steady.Census, l.r.p.Now()
	account := &protocol.KeyCoverage{}
	whole := false // l.met is the whole list
	switch {
	case len(l.met) > maxKnownKeys:
		l.r.log.Warn(
			"deletions are not looked for: the list is too long to be remembered",
			"stream",
			l.List,
			"items",
			len(l.met),
		)
		l.met, at, l.metMore = map[string]bool{}, time.Time{}, len(l.steady.Known) > 0
	case at.IsZero():
		at, l.metMore, whole = now, true, l.fresh && !l.announced
	case now.Sub(at) >= l.Census && !l.announced && !l.r.spent() && !l.r.late():
		done, late, err := l.scanList(ctx)
		if err != nil {
			return err
		}
		account = l.book.coverage(late)
		if l.metMore = true; done {
			at, whole = now, true
		}
	}
	if whole && !l.r.spent() && !l.r.late() {
		rest := false
		look := func(ctx context.Context, keys []string) (gone []string, err error) {
			gone, err = l.askGone(ctx, keys)
			rest = errors.Is(err, ErrAskLater)
			return gone, err
		}
		if err := l.r.compare(ctx, l.List, Whole{Keys: maps.Keys(l.met), Gone: look}); err != nil {
			return err
		}
		if rest {
			at = now.Add(-l.Census) // the next run scans again and requests more
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
	return l.state(ctx, protocol.SteadyState, encode(kept), account)
}

// scanList scans the list, collects new items and deletes gone ones. It returns false if it must be repeated: the
// list was not read to its end, or not all missing items were requested. The keys are those of the collected
// items.
func (l *listDetailRun) scanList(ctx context.Context) (done bool, late []string, err error) {
	found, err := l.listEverything(ctx)
	if ctx.Err() != nil {
		return false, nil, context.Cause(ctx)
	}
	if err != nil {
		l.r.log.Warn("deletions were not looked for", "stream", l.List, "cause", governhttp.WithoutURL(err))
		return false, nil, nil
	}
	gone := maps.Clone(l.met)
	for _, item := range found {
		delete(gone, item.Key)
	}
	if late, err = l.collectLate(ctx, found); err != nil {
		return false, late, err
	}
	done, err = l.deleteGone(ctx, slices.Sorted(maps.Keys(gone)))
	return done, late, err
}

// collectLate collects the items that were never met, each with its details or its gap.
func (l *listDetailRun) collectLate(ctx context.Context, found []Item) (keys []string, err error) {
	p := &windowPass{listWalk: &listWalk{l: l, ended: true}}
	for _, item := range found {
		if l.met[item.Key] {
			continue
		}
		if _, err := l.slice(ctx, p, []Item{item}); err != nil {
			return keys, err
		}
		if p.stop != nil && p.stop.ends != "" {
			return keys, Fail(p.stop.ends, nil)
		}
		if l.detailing {
			keys = append(keys, item.Key)
		}
	}
	return keys, nil
}

// askGone returns the stored keys that the provider reports as gone, and deletes their details. It requests a
// bounded number of them.
func (l *listDetailRun) askGone(ctx context.Context, keys []string) (gone []string, err error) {
	for i, key := range keys {
		if i == maxScanRequests || l.r.spent() || l.r.late() {
			err = ErrAskLater
			break
		}
		there, err := l.askFor(ctx, key)
		if err != nil {
			return nil, err
		}
		if there {
			l.met[key] = true
			continue
		}
		gone = append(gone, key)
	}
	if !l.Paired || !l.detailing {
		return gone, err
	}
	for _, key := range gone {
		if _, err := l.r.emit(ctx, l.Detail, Delete(key)); err != nil {
			return nil, err
		}
	}
	return gone, err
}

// askFor reports whether the provider has an item that its list does not show.
func (l *listDetailRun) askFor(ctx context.Context, key string) (bool, error) {
	cost := l.r.openBill()
	_, err := retryOpenCircuit(ctx, l.r, func() ([]Record, error) {
		defer cost.payFor(1)
		return l.Fetch(ctx, Item{Key: key})
	})
	switch {
	case ctx.Err() != nil:
		return false, context.Cause(ctx)
	case err == nil:
		return true, nil
	case classify(err).Class != Gone:
		return false, err
	}
	return false, nil
}

// deleteGone requests each item that is missing in the list and deletes those that are gone.
func (l *listDetailRun) deleteGone(ctx context.Context, keys []string) (bool, error) {
	for i, key := range keys {
		if i == maxScanRequests || l.r.spent() || l.r.late() {
			return false, nil
		}
		there, err := l.askFor(ctx, key)
		switch {
		case ctx.Err() != nil:
			return false, context.Cause(ctx)
		case there:
			continue // it exists although the list does not show it
		case err != nil:
			l.r.log.Warn("a missing item could not be asked for", "stream", l.List, "cause", governhttp.WithoutURL(err))
			return false, nil
		}
		if err := l.remove(ctx, key); err != nil {
			return false, err
		}
	}
	return true, nil
}

// remove deletes an item, and its details if they have its key.
func (l *listDetailRun) remove(ctx context.Context, key string) error {
	delete(l.met, key)
	if _, err := l.r.emit(ctx, l.List, Delete(key)); err != nil || !l.Paired || !l.detailing {
		return err
	}
	_, err := l.r.emit(ctx, l.Detail, Delete(key))
	return err
}

// listEverything returns the items of the whole list.
func (l *listDetailRun) listEverything(ctx context.Context) (found []Item, err error) {
	w := l.walk(timeWindow{}, nil)
	for w.more() {
		items, err := w.next(ctx)
		if err != nil {
			return nil, err
		}
		found = append(found, items...)
	}
	return found, nil
}
