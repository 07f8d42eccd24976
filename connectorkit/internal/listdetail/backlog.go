package listdetail

import (
	"cmp"
	"context"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/connectorkit/internal/runstate"
	"github.com/pdpp-go/pdpp/protocol"
)

// rest returns the rest of the window, inclusive: from the next item if it is known, otherwise from the last accounted
// item, because its instant may contain more items.
func (p *windowPass) rest() TimeWindow {
	if len(p.buf) > 0 {
		return p.restFrom(p.buf[0])
	}
	return p.restFrom(Item{Time: p.oldest})
}

// restFrom returns the rest of the window that begins with an item.
func (p *windowPass) restFrom(item Item) TimeWindow {
	if p.l.Parts {
		return TimeWindow{After: cmp.Or(p.last, p.span.After)}
	}
	return TimeWindow{Before: item.Time.UTC(), Floor: p.span.Floor.UTC()}
}

// wouldRepeatBacklog reports whether a new backlog of this rest would be as large as the one being expanded. That
// happens if more items than the tail allows share the boundary's instant. The tail is then exceeded, because otherwise
// the window would never drain.
func (p *windowPass) wouldRepeatBacklog(rest TimeWindow) bool {
	return p.expanded != nil && rest.Before.Equal(p.span.Before) && rest.After == p.span.After
}

// becomesBacklog reports whether the rest of the window becomes a backlog gap. After a cap that is when the tail is
// full; without a bound every item gets its own gap. Under pressure it is at the end of the page at the latest,
// because further listing would add pressure.
func (p *windowPass) becomesBacklog(t *runstate.GapTail) bool {
	switch {
	case p.stop == nil || p.stop.Ends != "" || !p.mayContinue():
		return false
	case p.full:
		return true
	case p.stop.Cap:
		return t.IsExhausted() && !p.wouldRepeatBacklog(p.rest())
	default:
		return t.IsExhausted() || len(p.buf) == 0
	}
}

// foldIntoBacklog declares the rest of the window as one gap and ends the walk.
func (l *Run) foldIntoBacklog(ctx context.Context, p *windowPass) (string, error) {
	rest := p.rest()
	p.buf, p.ended = nil, true
	item, o := l.backlogItem(rest), gapWasNotTried
	if p.wouldRepeatBacklog(rest) {
		item, o = *p.expanded, gapWasTried // not smaller: the held gap is deferred again
	}
	return item.Key, l.declareBacklog(ctx, item, rest, p.stop.Postponement, o)
}

// backlogLocator identifies the window by content times, never by an offset.
type backlogLocator struct {
	Kind string `json:"kind"`
	TimeWindow
}

// backlogName describes the content of a backlog: list records and details or, if the list is out of scope, only
// details.
func (l *Run) backlogName() string {
	if l.anchor != l.List {
		return l.List + "_detail_backlog"
	}
	return l.List + "_backlog"
}

// backlogItem represents all items of the window. Its key depends only on the window, so that two windows never
// overwrite each other's gap.
func (l *Run) backlogItem(span TimeWindow) Item {
	name, at := l.backlogName(), span.After
	if at == "" {
		at = runstate.FormatInstant(span.Before) + ":" + runstate.FormatInstant(span.Floor)
	}
	return Item{
		Key:     "__" + name + "__:" + at,
		Locator: runstate.EncodeBookmark(backlogLocator{l.r.Manifest.Key() + "." + name, span}),
	}
}

// declareBacklog declares a whole window as one gap.
func (l *Run) declareBacklog(ctx context.Context, item Item, span TimeWindow, d runstate.Postponement,
	o gapOutcome) error {
	if _, known := l.book.entries[item.Key]; !known {
		l.book.backlogs++
	}
	return l.declareGapAt(ctx, item, span, d, o)
}

// backlogWindow reports whether a served gap is a backlog, and returns its window if this run can expand it. A
// backlog with list records needs the list in scope.
func (l *Run) backlogWindow(e protocol.GapEntry) (span TimeWindow, backlog, ours bool) {
	var b backlogLocator
	if !strings.HasPrefix(string(e.RecordKey), "__"+l.List+"_") || len(e.DetailLocator) == 0 ||
		json.Unmarshal(e.DetailLocator, &b) != nil || !strings.HasSuffix(b.Kind, "_backlog") {
		return TimeWindow{}, false, false
	}
	own := b.Kind == l.r.Manifest.Key()+"."+l.backlogName()
	return b.TimeWindow, true, (!b.Before.IsZero() || b.After != "") && (own || l.anchor == l.List)
}
