package listdetail

import (
	"context"
	"maps"
	"slices"

	"github.com/pdpp-go/pdpp/connectorkit/failure"
	"github.com/pdpp-go/pdpp/connectorkit/internal/runstate"
	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/protocol"
)

// If the provider returns details for several items at once, they are requested ahead of their turn. Each item
// then has its turn as if it had been fetched separately: order, slices, gaps and caps are the same.

// fetchResult is the result of a call for several items, for one of them.
type fetchResult struct {
	Fetched
	item     Item
	omitted  bool                   // the call omitted it; its turn fetches it
	deferral *runstate.Postponement // the call stopped the lane; its turn reports why
	flight   *detailCall            // a separate call ahead of its turn
}

// needsNoRequest reports whether the item's turn needs no request.
func (l *Run) needsNoRequest(item Item) bool {
	f, ahead := l.ahead[item.Key]
	return ahead && !f.omitted
}

// itemOfGap returns the item of a gap that an earlier run left.
func itemOfGap(e protocol.GapEntry) Item {
	return Item{Key: string(e.RecordKey), Locator: e.DetailLocator}
}

// fetchAhead requests the first item together with the items after it that are due: with one call, unless that
// item was already requested, or with several calls at once.
func (l *Run) fetchAhead(ctx context.Context, items []Item) error {
	if !l.fetchesBatches() {
		return l.fetchAtOnce(ctx, items)
	}
	if _, asked := l.ahead[items[0].Key]; asked {
		return nil
	}
	return l.requestItems(ctx, l.nextDueItems(items, l.Many))
}

func (l *Run) fetchAtOnce(ctx context.Context, items []Item) error {
	if !l.AtOnce {
		return nil
	}
	l.coming = items
	return l.launchCalls(ctx)
}

// recoverAhead does the same for the gaps of a page. No call is in flight while a backlog, which is a list, is
// read.
func (l *Run) recoverAhead(ctx context.Context, page []protocol.GapEntry) error {
	if !l.fetchesBatches() && !l.AtOnce {
		return nil
	}
	var items []Item
	for _, e := range page {
		_, backlog, _ := l.backlogWindow(e)
		if backlog && !l.fetchesBatches() {
			break
		}
		if own := e.Stream == l.Detail && l.held[string(e.RecordKey)].GapID == e.GapID; own && !backlog {
			items = append(items, itemOfGap(e))
		}
	}
	first := itemOfGap(page[0])
	if len(items) == 0 || items[0].Key != first.Key {
		return nil
	}
	return l.fetchAhead(ctx, items)
}

func (l *Run) fetchesBatches() bool { return l.FetchMany != nil && l.Many > 1 && !l.oneByOne }

// nextDueItems returns the next items to request: as many as possible within the cap, each once.
func (l *Run) nextDueItems(items []Item, most int) []Item {
	if left, bounded := l.r.Budget.Remaining(); bounded {
		most = min(most, left)
	}
	var out []Item
	seen := map[string]bool{}
	for _, item := range items {
		if _, asked := l.ahead[item.Key]; asked || seen[item.Key] || l.book.wasConsidered(item) {
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

// requestItems makes one call for the items. A single item is left to Fetch.
func (l *Run) requestItems(ctx context.Context, items []Item) error {
	if len(items) < 2 {
		return nil
	}
	for _, item := range items {
		if err := l.announceAttempt(ctx, item.Key); err != nil {
			return err
		}
	}
	if err := l.r.Out.Flush(ctx); err != nil {
		return err
	}
	cost := l.r.OpenDetailBill()
	var got []Fetched
	_, err := runstate.RetryOpenCircuit(ctx, l.r, func() (struct{}, error) {
		var err error
		got, err = l.FetchMany(ctx, items)
		cost.ChargeDetails(len(got))
		return struct{}{}, err
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for _, item := range items {
		l.ahead[item.Key] = fetchResult{item: item, omitted: true}
	}
	if err != nil {
		return l.handleBatchFailure(ctx, items, err)
	}
	for _, f := range got {
		if asked, ok := l.ahead[f.Key]; ok && asked.omitted {
			l.ahead[f.Key] = fetchResult{Fetched: f, item: asked.item}
		}
	}
	return nil
}

// handleBatchFailure handles the failure of a call for several items. A failure that stops the lane stops it with the
// first item and postpones the others. After any other failure Fetch gets them.
func (l *Run) handleBatchFailure(ctx context.Context, items []Item, err error) error {
	l.r.Log.Warn(
		"details were not fetched together",
		"stream",
		l.Detail,
		"items",
		len(items),
		"cause",
		governhttp.WithoutURL(err),
	)
	e := failure.ClassifyError(err)
	stopping := runstate.ChosenStop(e.Stopped) != nil || governhttp.UnreachableHost(e.Err) != ""
	switch e.Class {
	case failure.RateLimited, failure.Unauthorized, failure.Challenge:
		stopping = true
	case failure.NotFound, failure.Gone, failure.Forbidden:
		l.oneByOne = true
	}
	if stopping {
		failures := l.failures
		_, stop := l.postponementOf(e)
		l.failures = failures // the first item's turn counts it
		for _, item := range items[1:] {
			l.ahead[item.Key] = fetchResult{item: item, deferral: &stop.Postponement}
		}
		l.ahead[items[0].Key] = fetchResult{item: items[0], Fetched: Fetched{Key: items[0].Key, Err: err}}
	}
	return l.r.ReportTransitions(ctx)
}

// postponeOmitted settles items that were requested together, omitted, and will not be fetched in this run, because an
// announced attempt needs an outcome. With all, it also postpones what the call returned.
func (l *Run) postponeOmitted(ctx context.Context, s *runstate.LaneStop, all bool) error {
	l.waitForCalls(s.Ends != "")
	for _, key := range slices.Sorted(maps.Keys(l.ahead)) {
		f := l.ahead[key]
		if !f.omitted && !all {
			continue
		}
		delete(l.ahead, key)
		if _, holding := l.held[key]; !holding {
			continue // no attempt was announced; its turn postpones it
		}
		if err := l.declareGap(ctx, f.item, s.Postponement, gapWasTried); err != nil {
			return err
		}
	}
	return nil
}

// obtainDetails returns the details of an item: fetched ahead, or by Fetch now. The error is the run's; the item's
// error is in the result.
func (l *Run) obtainDetails(ctx context.Context, item Item) (fetchResult, error) {
	f, asked := l.ahead[item.Key]
	if f.flight != nil {
		var err error
		if f, err = l.awaitCall(ctx, f); err != nil {
			return fetchResult{}, err
		}
		if ctx.Err() != nil {
			return fetchResult{}, context.Cause(ctx)
		}
	}
	delete(l.ahead, item.Key)
	if asked && !f.omitted {
		return f, nil
	}
	if !asked {
		if err := l.announceAttempt(ctx, item.Key); err != nil {
			return fetchResult{}, err
		}
	}
	if err := l.r.Out.Flush(ctx); err != nil {
		return fetchResult{}, err
	}
	cost := l.r.OpenDetailBill()
	records, err := runstate.RetryOpenCircuit(ctx, l.r, func() ([]runstate.Record, error) {
		defer cost.ChargeDetails(1)
		item.Emit = l.emitPart()
		return l.Fetch(ctx, item)
	})
	if ctx.Err() != nil {
		return fetchResult{}, context.Cause(ctx)
	}
	return fetchResult{Fetched: Fetched{Key: item.Key, Records: records, Err: err}}, nil
}
