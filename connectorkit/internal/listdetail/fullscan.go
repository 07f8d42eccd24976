package listdetail

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/failure"
	"github.com/pdpp-go/pdpp/connectorkit/internal/runstate"
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
func (l *Run) recordMet(items []Item) {
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
func (l *Run) fullScan(ctx context.Context) error {
	scope := l.r.Scope[l.List]
	if l.Census <= 0 || scope == nil || scope.Resources != nil || scope.Bounded || l.anchor != l.List {
		return nil
	}
	l.recordMet(nil)
	at, now := l.steady.Census, l.r.Now()
	account := &protocol.KeyCoverage{}
	whole := false // l.met is the whole list
	switch {
	case len(l.met) > maxKnownKeys:
		l.r.Log.Warn(
			"deletions are not looked for: the list is too long to be remembered",
			"stream",
			l.List,
			"items",
			len(l.met),
		)
		l.met, at, l.metMore = map[string]bool{}, time.Time{}, len(l.steady.Known) > 0
	case at.IsZero():
		at, l.metMore, whole = now, true, l.fresh && !l.announced
	case now.Sub(at) >= l.Census && !l.announced && !l.r.CapIsReached() && !l.r.TimeIsUp():
		done, late, err := l.scanList(ctx)
		if err != nil {
			return err
		}
		account = l.book.keyCoverage(late)
		if l.metMore = true; done {
			at, whole = now, true
		}
	}
	if whole && !l.r.CapIsReached() && !l.r.TimeIsUp() {
		rest := false
		look := func(ctx context.Context, keys []string) (gone []string, err error) {
			gone, err = l.confirmGone(ctx, keys)
			rest = errors.Is(err, runstate.ErrCheckLater)
			return gone, err
		}
		all := runstate.StoreComparison{Keys: maps.Keys(l.met), Gone: look}
		if err := l.r.CompareWithStore(ctx, l.List, all); err != nil {
			return err
		}
		if rest {
			at = now.Add(-l.Census) // the next run scans again and requests more
		}
	}
	if !l.metMore {
		return nil
	}
	mark := l.r.Bookmarks.Sent[l.anchor]
	if mark == nil {
		mark = l.unchanged
	}
	kept := ReadSteadyBookmark(mark)
	kept.Known, kept.Census = slices.Sorted(maps.Keys(l.met)), at.UTC()
	return l.sendSliceState(ctx, protocol.SteadyState, runstate.EncodeBookmark(kept), account)
}

// scanList scans the list, collects new items and deletes gone ones. It returns false if it must be repeated: the
// list was not read to its end, or not all missing items were requested. The keys are those of the collected
// items.
func (l *Run) scanList(ctx context.Context) (done bool, late []string, err error) {
	found, err := l.listEverything(ctx)
	if ctx.Err() != nil {
		return false, nil, context.Cause(ctx)
	}
	if err != nil {
		l.r.Log.Warn("deletions were not looked for", "stream", l.List, "cause", governhttp.WithoutURL(err))
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
func (l *Run) collectLate(ctx context.Context, found []Item) (keys []string, err error) {
	p := &windowPass{listWalk: &listWalk{l: l, ended: true}}
	for _, item := range found {
		if l.met[item.Key] {
			continue
		}
		if _, err := l.accountForItems(ctx, p, []Item{item}); err != nil {
			return keys, err
		}
		if p.stop != nil && p.stop.Ends != "" {
			return keys, failure.Fail(p.stop.Ends, nil)
		}
		if l.detailing {
			keys = append(keys, item.Key)
		}
	}
	return keys, nil
}

// confirmGone returns the stored keys that the provider reports as gone, and deletes their details. It requests a
// bounded number of them.
func (l *Run) confirmGone(ctx context.Context, keys []string) (gone []string, err error) {
	for i, key := range keys {
		if i == maxScanRequests || l.r.CapIsReached() || l.r.TimeIsUp() {
			err = runstate.ErrCheckLater
			break
		}
		there, err := l.providerHasItem(ctx, key)
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
		if _, err := l.r.EmitRecord(ctx, l.Detail, runstate.DeletedRecord(key)); err != nil {
			return nil, err
		}
	}
	return gone, err
}

// providerHasItem reports whether the provider has an item that its list does not show.
func (l *Run) providerHasItem(ctx context.Context, key string) (bool, error) {
	cost := l.r.OpenDetailBill()
	_, err := runstate.RetryOpenCircuit(ctx, l.r, func() ([]runstate.Record, error) {
		defer cost.ChargeDetails(1)
		return l.Fetch(ctx, Item{Key: key})
	})
	switch {
	case ctx.Err() != nil:
		return false, context.Cause(ctx)
	case err == nil:
		return true, nil
	case failure.ClassifyError(err).Class != failure.Gone:
		return false, err
	}
	return false, nil
}

// deleteGone requests each item that is missing in the list and deletes those that are gone.
func (l *Run) deleteGone(ctx context.Context, keys []string) (bool, error) {
	for i, key := range keys {
		if i == maxScanRequests || l.r.CapIsReached() || l.r.TimeIsUp() {
			return false, nil
		}
		there, err := l.providerHasItem(ctx, key)
		switch {
		case ctx.Err() != nil:
			return false, context.Cause(ctx)
		case there:
			continue // it exists although the list does not show it
		case err != nil:
			l.r.Log.Warn("a missing item could not be asked for", "stream", l.List, "cause", governhttp.WithoutURL(err))
			return false, nil
		}
		if err := l.deleteItem(ctx, key); err != nil {
			return false, err
		}
	}
	return true, nil
}

// deleteItem deletes an item, and its details if they have its key.
func (l *Run) deleteItem(ctx context.Context, key string) error {
	delete(l.met, key)
	if _, err := l.r.EmitRecord(ctx, l.List, runstate.DeletedRecord(key)); err != nil || !l.Paired || !l.detailing {
		return err
	}
	_, err := l.r.EmitRecord(ctx, l.Detail, runstate.DeletedRecord(key))
	return err
}

// listEverything returns the items of the whole list.
func (l *Run) listEverything(ctx context.Context) (found []Item, err error) {
	w := l.newListWalk(TimeWindow{}, nil)
	for w.mayContinue() {
		items, err := w.nextSlice(ctx)
		if err != nil {
			return nil, err
		}
		found = append(found, items...)
	}
	return found, nil
}
