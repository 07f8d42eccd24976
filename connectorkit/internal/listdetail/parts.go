package listdetail

import (
	"context"

	"github.com/pdpp-go/pdpp/connectorkit/failure"
	"github.com/pdpp-go/pdpp/connectorkit/internal/runstate"
	"github.com/pdpp-go/pdpp/protocol"
)

// A list of parts has no stream of its own, no times and no order. Every run walks through all of it. Its parts are
// items whose details are the records of one stream: gaps, backlogs, caps and concurrent calls are those of details.

// oneDateForAll is the reason of a skip that declares what a bookmark with one date for all parts cannot find.
const oneDateForAll = "one_date_for_all_parts"

// sliceItems returns how many items the next slice has. Slices of parts grow with the walk, because each has a bookmark
// that may grow with it too.
func (l *Run) sliceItems() int {
	if !l.Parts || l.AtOnce {
		return maxSliceItems
	}
	return min(1+len(l.book.keys)/maxSliceItems, maxSliceItems)
}

// addPart adds a part to the walk, unless it is before the rest that the walk reads. One without a key is a parent that
// cannot be read.
func (w *listWalk) addPart(item Item, left *runstate.SliceMismatches) {
	switch {
	case item.Key == "":
		left.AddFault(&failure.Fault{Path: "parent_key"})
	case w.before:
		w.before = item.Key != w.span.After
	default:
		w.buf = append(w.buf, item)
	}
}

// beginWalk makes the runner record the keys of all parts, if the run compares them with the stored ones.
func (l *Run) beginWalk(ctx context.Context) error {
	if l.walking || l.Confirm == nil || !l.r.AllowsWalk(l.Detail) {
		return nil
	}
	l.walking = true
	return l.r.BeginWalk(ctx, l.Detail)
}

// collectParts reads all parts that this run has not considered yet.
func (l *Run) collectParts(ctx context.Context) error {
	if err := l.beginWalk(ctx); err != nil {
		return err
	}
	p := &windowPass{listWalk: l.newListWalk(TimeWindow{}, nil)}
	return l.drainPass(ctx, p, func(*protocol.KeyCoverage) error {
		done := !p.mayContinue()
		if done && l.walking && p.stop == nil && l.book.isComplete() {
			all := runstate.StoreComparison{Gone: l.Confirm}
			if err := l.r.CompareWalk(ctx, l.Detail, all); err != nil {
				return err
			}
		}
		if note := l.Note(); done && note != "" {
			skip := &protocol.SkipResult{Stream: l.Detail, Reason: oneDateForAll, Message: &note}
			if err := l.r.Out.Send(ctx, skip); err != nil {
				return err
			}
		}
		return l.sendPartState(ctx, done && p.stop == nil)
	})
}

// sendPartState closes a slice of parts.
func (l *Run) sendPartState(ctx context.Context, done bool) error {
	return l.r.SendState(ctx, &protocol.State{Stream: l.Detail, Cursor: l.Bookmark(done)})
}

// emitPart returns the function that sends records of a part before all are read. Each call is a slice.
func (l *Run) emitPart() func(ctx context.Context, records []runstate.Record) error {
	if !l.Parts || l.AtOnce {
		return nil
	}
	return func(ctx context.Context, records []runstate.Record) error {
		if err := l.emitPartRecords(ctx, records); err != nil {
			return err
		}
		if err := l.sendPartState(ctx, false); err != nil {
			return err
		}
		return l.r.Out.Flush(ctx)
	}
}

// emitPartRecords sends records of a part. What does not match its schema is declared, and the part is not a gap.
func (l *Run) emitPartRecords(ctx context.Context, records []runstate.Record) error {
	var left runstate.SliceMismatches
	for _, rec := range records {
		fault, err := l.r.EmitRecord(ctx, l.Detail, rec)
		if err != nil {
			return err
		}
		left.AddFault(fault)
	}
	return l.r.DeclareMismatches(ctx, l.Detail, &left)
}
