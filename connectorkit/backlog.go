package connectorkit

import (
	"context"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/protocol"
)

// boundary returns where the rest of the window begins, inclusive: at the next item if it is known, otherwise at
// the last accounted item, because its instant may contain more items.
func (p *windowPass) boundary() time.Time {
	if len(p.buf) > 0 {
		return p.buf[0].Time
	}
	return p.oldest
}

// stuck reports whether a new backlog from t would be as large as the one being expanded. That happens if more
// items than the tail allows share the boundary's instant. The tail is then exceeded, because otherwise the
// window would never drain.
func (p *windowPass) stuck(t time.Time) bool { return p.expanded != nil && t.Equal(p.span.Before) }

// folds reports whether the rest of the window becomes a backlog gap. After a cap that is when the tail is full;
// without a bound every item gets its own gap. Under pressure it is at the end of the page at the latest, because
// further listing would add pressure.
func (p *windowPass) folds(t *gapTail) bool {
	switch {
	case p.stop == nil || p.stop.ends != "" || !p.more():
		return false
	case p.stop.cap:
		return t.full() && !p.stuck(p.boundary())
	default:
		return t.full() || len(p.buf) == 0
	}
}

// fold declares the rest of the window as one gap and ends the walk.
func (l *listDetailRun) fold(ctx context.Context, p *windowPass) (string, error) {
	rest := timeWindow{Before: p.boundary().UTC(), Floor: p.span.Floor.UTC()}
	p.buf, p.ended = nil, true
	item, o := l.backlogItem(rest), wasNotTried
	if p.stuck(rest.Before) {
		item, o = *p.expanded, wasTried // not smaller: the held gap is deferred again
	}
	return item.Key, l.backlog(ctx, item, rest, p.stop.postponement, o)
}

// backlogLocator identifies the window by content times, never by an offset.
type backlogLocator struct {
	Kind string `json:"kind"`
	timeWindow
}

// backlogName describes the content of a backlog: list records and details or, if the list is out of scope, only
// details.
func (l *listDetailRun) backlogName() string {
	if l.anchor != l.List {
		return l.List + "_detail_backlog"
	}
	return l.List + "_backlog"
}

// backlogItem represents all items of the window. Its key depends only on the window, so that two windows never
// overwrite each other's gap.
func (l *listDetailRun) backlogItem(span timeWindow) Item {
	name := l.backlogName()
	return Item{
		Key:     "__" + name + "__:" + formatInstant(span.Before) + ":" + formatInstant(span.Floor),
		Locator: encode(backlogLocator{l.r.c.Manifest.Key() + "." + name, span}),
	}
}

// backlog declares a whole window as one gap.
func (l *listDetailRun) backlog(ctx context.Context, item Item, span timeWindow, d postponement, o gapOutcome) error {
	if _, known := l.book.entries[item.Key]; !known {
		l.book.backlogs++
	}
	return l.gapAt(ctx, item, span, d, o)
}

// backlogWindow reports whether a served gap is a backlog, and returns its window if this run can expand it. A
// backlog with list records needs the list in scope.
func (l *listDetailRun) backlogWindow(e protocol.GapEntry) (span timeWindow, backlog, ours bool) {
	var b backlogLocator
	if !strings.HasPrefix(string(e.RecordKey), "__"+l.List+"_") || len(e.DetailLocator) == 0 ||
		json.Unmarshal(e.DetailLocator, &b) != nil || !strings.HasSuffix(b.Kind, "_backlog") {
		return timeWindow{}, false, false
	}
	own := b.Kind == l.r.c.Manifest.Key()+"."+l.backlogName()
	return b.timeWindow, true, !b.Before.IsZero() && (own || l.anchor == l.List)
}
