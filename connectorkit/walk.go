package connectorkit

import (
	"context"
	"errors"
)

// sliceItems is the maximum number of items in a slice, and so the maximum loss of a crash.
const sliceItems = 50

var errOrder = errors.New("the list is not newest first")

// listWalk lists a window page by page and divides the pages into slices. Within a run it follows the provider's
// tokens. Across runs only content times count, so that a list that changed in the meantime neither skips nor
// repeats items.
type listWalk struct {
	l      *listDetailRun
	span   timeWindow
	skip   map[string]bool // accounted keys at the floor
	token  string
	tokens map[string]bool
	buf    []Item
	last   Item // the last item seen, for the order
	ended  bool
	empty  int
	total  int
}

func (l *listDetailRun) walk(span timeWindow, skip []string) *listWalk {
	w := &listWalk{l: l, span: span, skip: map[string]bool{}, tokens: map[string]bool{}}
	for _, key := range skip {
		w.skip[key] = true
	}
	return w
}

// next returns the next slice, which may be empty although more follows.
func (w *listWalk) next(ctx context.Context) ([]Item, error) {
	if len(w.buf) == 0 && !w.ended {
		if err := w.page(ctx); err != nil {
			return nil, err
		}
	}
	n := min(len(w.buf), sliceItems)
	items := w.buf[:n]
	w.buf = w.buf[n:]
	return items, nil
}

// more reports whether something may follow.
func (w *listWalk) more() bool { return len(w.buf) > 0 || !w.ended }

func (w *listWalk) page(ctx context.Context) error {
	if err := w.l.r.out.flush(ctx); err != nil {
		return err
	}
	at := Window{Before: w.span.Before, After: w.span.Floor, Token: w.token}
	page, err := listPage(ctx, w.l.r, func() (ListPage, error) { return w.l.ListPage(ctx, at) })
	if err != nil {
		return err
	}
	w.total = page.Total
	var left sliceMismatches
	for _, item := range page.Items {
		if item.Key == "" || item.Time.IsZero() {
			fault := item.Record.fault
			if fault == nil {
				fault = &Fault{Key: item.Key, Path: "item"}
			}
			left.add(fault)
			continue
		}
		if w.last.Key != "" && item.Time.After(w.last.Time) {
			return Fail(Malformed, errOrder)
		}
		w.last = item
		if w.span.older(item.Time) {
			w.ended = true
			break
		}
		atFloor := item.Time.Equal(w.span.Floor) && w.skip[item.Key]
		if !w.span.newer(item.Time) && !atFloor {
			w.buf = append(w.buf, item)
		}
	}
	if err := w.l.r.declare(ctx, w.l.anchor, &left); err != nil {
		return err
	}
	return w.advance(page)
}

// advance moves to the next page. It returns an error if the provider repeats pages.
func (w *listWalk) advance(page ListPage) error {
	w.tokens[w.token] = true
	w.token = page.Next
	w.ended = w.ended || page.Next == ""
	if len(page.Items) > 0 {
		w.empty = 0
	} else {
		w.empty++
	}
	switch {
	case w.ended:
		return nil
	case w.tokens[w.token]:
		return Fail(Malformed, errRepeats)
	case w.empty >= maxEmptyPages:
		return Fail(Malformed, errEmpty)
	}
	return nil
}
