package connectorkit

import (
	"context"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"pdpp/protocol"
)

// boundary is where the rest of the window begins, inclusive: at the next item
// when it is known, else at the last one accounted for, whose instant may hold
// more items.
func (p *pass) boundary() time.Time {
	if len(p.buf) > 0 {
		return p.buf[0].Time
	}
	return p.oldest
}

// stuck reports whether a new backlog that begins at t would be no smaller than
// the one being expanded. That happens when more items than the tail holds share
// the boundary's instant; the tail is exceeded then, because the window would
// never drain otherwise.
func (p *pass) stuck(t time.Time) bool { return p.expanded != nil && t.Equal(p.span.Before) }

// folds reports whether the rest of the window goes into a backlog gap. After a
// cap that is when the tail is full; without a bound every item gets its own
// gap. Under pressure it is at the end of the page at the latest, because to go
// on listing would press on.
func (p *pass) folds(t *tail) bool {
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
func (l *lane) fold(ctx context.Context, p *pass) (string, error) {
	rest := window{Before: p.boundary().UTC(), Floor: p.span.Floor.UTC()}
	p.buf, p.ended = nil, true
	item, o := l.backlogItem(rest), untried
	if p.stuck(rest.Before) {
		item, o = *p.expanded, tried // it is no smaller: the held gap itself is deferred again
	}
	return item.Key, l.backlog(ctx, item, rest, p.stop.deferral, o)
}

// backlogLocator finds the window again. It holds content times, never an offset.
type backlogLocator struct {
	Kind string `json:"kind"`
	window
}

// backlogName tells what a backlog stands for: list records and details, or,
// when the list is out of scope, details alone.
func (l *lane) backlogName() string {
	if l.anchor != l.List {
		return l.List + "_detail_backlog"
	}
	return l.List + "_backlog"
}

// backlogItem stands for every item of the window. Its key follows from the
// window alone, so that two windows never overwrite each other's gap.
func (l *lane) backlogItem(span window) Item {
	name := l.backlogName()
	return Item{
		Key:     "__" + name + "__:" + instant(span.Before) + ":" + instant(span.Floor),
		Locator: encode(backlogLocator{l.r.c.Manifest.Key() + "." + name, span}),
	}
}

// backlog declares a whole window as one gap.
func (l *lane) backlog(ctx context.Context, item Item, span window, d deferral, o outcome) error {
	if _, known := l.book.entries[item.Key]; !known {
		l.book.backlogs++
	}
	return l.gapAt(ctx, item, span, d, o)
}

// backlogWindow reads a served gap: whether it is a backlog, and its window if
// this run can expand it. One that stands for list records needs the list in scope.
func (l *lane) backlogWindow(e protocol.GapEntry) (span window, backlog, ours bool) {
	var b backlogLocator
	if !strings.HasPrefix(string(e.RecordKey), "__"+l.List+"_") || len(e.DetailLocator) == 0 ||
		json.Unmarshal(e.DetailLocator, &b) != nil || !strings.HasSuffix(b.Kind, "_backlog") {
		return window{}, false, false
	}
	own := b.Kind == l.r.c.Manifest.Key()+"."+l.backlogName()
	return b.window, true, !b.Before.IsZero() && (own || l.anchor == l.List)
}
