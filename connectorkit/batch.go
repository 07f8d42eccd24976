package connectorkit

import (
	"context"
	"maps"
	"slices"

	"pdpp/governor/governhttp"
	"pdpp/protocol"
)

// Details that the provider gives for several items at once are asked for ahead of
// their turn. Each item then has its turn as if it had been fetched alone: order,
// slices, gaps and caps do not know the difference.

// fetched is what a call for several items came to for one of them.
type fetched struct {
	Fetched
	item     Item
	alone    bool      // the call left it out: its turn fetches it
	deferral *deferral // the call stopped the lane: its turn says why it is missing
	flight   *flight   // the call for it alone, ahead of its turn
}

// known reports whether the item's turn needs no request.
func (l *lane) known(item Item) bool {
	f, ahead := l.ahead[item.Key]
	return ahead && !f.alone
}

// itemOf is the item of a gap that an earlier run left.
func itemOf(e protocol.GapEntry) Item {
	return Item{Key: string(e.RecordKey), Locator: e.DetailLocator}
}

// fetchAhead asks for the first item together with those after it that are due too: with
// one call, which is not made when that item was asked for already, or with several at once.
func (l *lane) fetchAhead(ctx context.Context, items []Item) error {
	if !l.batches() {
		return l.fetchAtOnce(ctx, items)
	}
	if _, asked := l.ahead[items[0].Key]; asked {
		return nil
	}
	return l.ask(ctx, l.due(items, l.Many))
}

func (l *lane) fetchAtOnce(ctx context.Context, items []Item) error {
	if !l.AtOnce {
		return nil
	}
	l.coming = items
	return l.launch(ctx)
}

// recoverAhead does the same for the gaps of a page. No call is under way while a backlog,
// which is a list, is read.
func (l *lane) recoverAhead(ctx context.Context, page []protocol.GapEntry) error {
	if !l.batches() && !l.AtOnce {
		return nil
	}
	var items []Item
	for _, e := range page {
		_, backlog, _ := l.backlogWindow(e)
		if backlog && !l.batches() {
			break
		}
		if own := e.Stream == l.Detail && l.held[string(e.RecordKey)].GapID == e.GapID; own && !backlog {
			items = append(items, itemOf(e))
		}
	}
	first := itemOf(page[0])
	if len(items) == 0 || items[0].Key != first.Key {
		return nil
	}
	return l.fetchAhead(ctx, items)
}

func (l *lane) batches() bool { return l.FetchMany != nil && l.Many > 1 && !l.oneByOne }

// due are the items that are asked for next: as many as can be and the cap leaves, each once.
func (l *lane) due(items []Item, most int) []Item {
	if left, bounded := l.r.budget.Remaining(); bounded {
		most = min(most, left)
	}
	var out []Item
	seen := map[string]bool{}
	for _, item := range items {
		if _, asked := l.ahead[item.Key]; asked || seen[item.Key] || l.book.handled(item) {
			continue
		}
		if len(out) == most {
			break
		}
		seen[item.Key] = true
		out = append(out, item)
	}
	return out
}

// ask makes one call for the items. A single one is left to Fetch.
func (l *lane) ask(ctx context.Context, items []Item) error {
	if len(items) < 2 {
		return nil
	}
	for _, item := range items {
		if err := l.attempted(ctx, item.Key); err != nil {
			return err
		}
	}
	if err := l.r.out.flush(ctx); err != nil {
		return err
	}
	cost := l.r.openBill()
	var got []Fetched
	_, err := patiently(ctx, l.r, func() (struct{}, error) {
		var err error
		got, err = l.FetchMany(ctx, items)
		cost.payFor(len(got))
		return struct{}{}, err
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for _, item := range items {
		l.ahead[item.Key] = fetched{item: item, alone: true}
	}
	if err != nil {
		return l.refusedMany(ctx, items, err)
	}
	for _, f := range got {
		if asked, ok := l.ahead[f.Key]; ok && asked.alone {
			l.ahead[f.Key] = fetched{Fetched: f, item: asked.item}
		}
	}
	return nil
}

// refusedMany is what the failure of a call means for its items. One that would stop
// the lane stops it with the first item, and the others are put off by it; any other
// sends them to Fetch.
func (l *lane) refusedMany(ctx context.Context, items []Item, err error) error {
	l.r.log.Warn("details were not fetched together", "stream", l.Detail, "items", len(items), "cause", governhttp.WithoutURL(err))
	e := classify(err)
	stopping := ownStop(e.stopped) != nil || governhttp.UnreachableHost(e.Err) != ""
	switch e.Class {
	case RateLimited, Unauthorized, Walled:
		stopping = true
	case NotFound, Gone, Forbidden:
		l.oneByOne = true
	}
	if stopping {
		failures := l.failures
		_, stop := l.deferralOf(e)
		l.failures = failures // the first item's turn counts it
		for _, item := range items[1:] {
			l.ahead[item.Key] = fetched{item: item, deferral: &stop.deferral}
		}
		l.ahead[items[0].Key] = fetched{item: items[0], Fetched: Fetched{Key: items[0].Key, Err: err}}
	}
	return l.r.transitions(ctx)
}

// putOff settles what was asked for with others, was left out, and will not be fetched in
// this run: an attempt that was told needs an outcome. With all, what the call brought is put
// off as well, because nobody waits for it any more.
func (l *lane) putOff(ctx context.Context, s *stop, all bool) error {
	l.ground(s.ends != "")
	for _, key := range slices.Sorted(maps.Keys(l.ahead)) {
		f := l.ahead[key]
		if !f.alone && !all {
			continue
		}
		delete(l.ahead, key)
		if _, holding := l.held[key]; !holding {
			continue // no attempt was told; its turn puts it off
		}
		if err := l.gap(ctx, f.item, s.deferral, tried); err != nil {
			return err
		}
	}
	return nil
}

// obtain gives the details of an item: what was asked for ahead, or what Fetch gets now.
// The error is the run's; the item's own is in the answer.
func (l *lane) obtain(ctx context.Context, item Item) (fetched, error) {
	f, asked := l.ahead[item.Key]
	if f.flight != nil {
		var err error
		if f, err = l.land(ctx, f); err != nil {
			return fetched{}, err
		}
		if ctx.Err() != nil {
			return fetched{}, context.Cause(ctx)
		}
	}
	delete(l.ahead, item.Key)
	if asked && !f.alone {
		return f, nil
	}
	if !asked {
		if err := l.attempted(ctx, item.Key); err != nil {
			return fetched{}, err
		}
	}
	if err := l.r.out.flush(ctx); err != nil {
		return fetched{}, err
	}
	cost := l.r.openBill()
	records, err := patiently(ctx, l.r, func() ([]Record, error) {
		defer cost.payFor(1)
		return l.Fetch(ctx, item)
	})
	if ctx.Err() != nil {
		return fetched{}, context.Cause(ctx)
	}
	return fetched{Fetched: Fetched{Key: item.Key, Records: records, Err: err}}, nil
}
