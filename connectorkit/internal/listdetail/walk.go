package listdetail

import (
	"context"
	"errors"

	"github.com/pdpp-go/pdpp/connectorkit/failure"
	"github.com/pdpp-go/pdpp/connectorkit/internal/runstate"
)

// maxSliceItems is the maximum number of items in a slice, and so the maximum loss of a crash.
const maxSliceItems = 50

var errListOrder = errors.New("the list is not newest first")

// listWalk lists a window page by page and divides the pages into slices. Within a run it follows the provider's
// tokens. Across runs only content times count, so that a list that changed in the meantime neither skips nor
// repeats items.
type listWalk struct {
	l      *Run
	span   TimeWindow
	skip   map[string]bool // accounted keys at the floor
	token  string
	tokens map[string]bool
	buf    []Item
	last   Item // the last item seen, for the order
	ended  bool
	empty  int
	total  int
	before bool // the walk has not reached the part after which it begins
}

func (l *Run) newListWalk(span TimeWindow, skip []string) *listWalk {
	w := &listWalk{l: l, span: span, skip: map[string]bool{}, tokens: map[string]bool{}, before: span.After != ""}
	for _, key := range skip {
		w.skip[key] = true
	}
	return w
}

// nextSlice returns the next slice, which may be empty although more follows.
func (w *listWalk) nextSlice(ctx context.Context) ([]Item, error) {
	if len(w.buf) == 0 && !w.ended {
		if err := w.readPage(ctx); err != nil {
			return nil, err
		}
	}
	n := min(len(w.buf), w.l.sliceItems())
	items := w.buf[:n]
	w.buf = w.buf[n:]
	return items, nil
}

// mayContinue reports whether something may follow.
func (w *listWalk) mayContinue() bool { return len(w.buf) > 0 || !w.ended }

func (w *listWalk) readPage(ctx context.Context) error {
	if err := w.l.r.Out.Flush(ctx); err != nil {
		return err
	}
	at := Window{Before: w.span.Before, After: w.span.Floor, Token: w.token}
	page, err := runstate.ListPage(ctx, w.l.r, func() (Page, error) { return w.l.ListPage(ctx, at) })
	if err != nil {
		return err
	}
	w.total = page.Total
	var left runstate.SliceMismatches
	for _, item := range page.Items {
		if w.l.Parts {
			w.addPart(item, &left)
			continue
		}
		if item.Key == "" || item.Time.IsZero() {
			fault := item.Record.Fault
			if fault == nil {
				fault = &failure.Fault{Key: item.Key, Path: "item"}
			}
			left.AddFault(fault)
			continue
		}
		if w.last.Key != "" && item.Time.After(w.last.Time) {
			return failure.Fail(failure.Malformed, errListOrder)
		}
		w.last = item
		if w.span.IsOlderThan(item.Time) {
			w.ended = true
			break
		}
		atFloor := item.Time.Equal(w.span.Floor) && w.skip[item.Key]
		if !w.span.IsNewerThan(item.Time) && !atFloor {
			w.buf = append(w.buf, item)
		}
	}
	if err := w.l.r.DeclareMismatches(ctx, w.l.anchor, &left); err != nil {
		return err
	}
	return w.advancePage(page)
}

// advancePage moves to the next page. It returns an error if the provider repeats pages.
func (w *listWalk) advancePage(page Page) error {
	if w.before && page.Next == "" { // the part is no longer in the list: the walk begins at the first one
		w.before, w.token, w.tokens = false, "", map[string]bool{}
		return nil
	}
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
		return failure.Fail(failure.Malformed, runstate.ErrPageRepeats)
	case w.empty >= runstate.MaxEmptyPages:
		return failure.Fail(failure.Malformed, runstate.ErrEmptyPages)
	}
	return nil
}
