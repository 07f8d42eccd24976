package connectorkit

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit/failure"
	"github.com/pdpp-go/pdpp/connectorkit/internal/runstate"
	"github.com/pdpp-go/pdpp/protocol"
)

// PagedStream collects one stream page by page. Each page is a slice: its records and its cursor become durable
// together.
type PagedStream struct {
	Stream string
	// Page reads the page at the cursor. An empty cursor means the beginning.
	Page func(ctx context.Context, at Cursor) (Page, error)
}

// Page is one page of a PagedStream.
type Page struct {
	Records []Record
	// Next is where the next page begins, in this run or a later one. If it is empty on the last page, the next
	// run starts over.
	Next Cursor
	// More means that Next can be read at once.
	More bool
	// Whole is set on the last page by a collector that knows the whole stream at the source. Stored records that
	// are missing there are then deleted, unless that was done since the bookmark began.
	Whole *Whole
	// Total is the provider's count of records. Zero means unknown.
	Total int
	// Listed compares the provider's total with the listed items, readable or not. It is set on the page that
	// ends a walk through a whole list, if the provider announces a total. Fewer items than announced lower the
	// coverage of the stream.
	Listed *Listed
}

// Listed is the provider's own total of a list, and how many items were listed.
type Listed = protocol.AnnouncedTotal

func (f PagedStream) beginRun(r *runstate.Run) collectorRun {
	return &pagedStreamRun{PagedStream: f, r: r}
}

type pagedStreamRun struct {
	PagedStream
	r     *runstate.Run
	at    Cursor // of the next page
	count int
}

func (f *pagedStreamRun) StreamNames() []string { return []string{f.Stream} }

func (f *pagedStreamRun) ListStream() string { return f.Stream }

func (f *pagedStreamRun) DeclareCutShort(ctx context.Context, d runstate.Postponement) error {
	mark, err := f.at.encodeCursor()
	if err != nil {
		return err
	}
	if err := f.r.DeclareListCut(ctx, f.Stream, f.Stream, mark, d); err != nil {
		return err
	}
	if len(f.at) == 0 {
		return nil // nothing was read; the stored records stay
	}
	return f.r.SendState(ctx, &protocol.State{Stream: f.Stream, Cursor: mark})
}

func (f *pagedStreamRun) ConcludeWork(context.Context) error { return nil }

func (f *pagedStreamRun) CollectForward(ctx context.Context) error {
	f.at = readCursor(f.r.StoredBookmark(f.Stream, protocol.SteadyState))
	read := map[string]bool{}
	empty := 0
	if len(f.at) == 0 && f.r.ComparesWalk(f.Stream) {
		if err := f.r.BeginWalk(ctx, f.Stream); err != nil {
			return err
		}
	}
	for {
		if err := f.r.Out.Flush(ctx); err != nil {
			return err
		}
		page, err := runstate.ListPage(ctx, f.r, func() (Page, error) { return f.Page(ctx, f.at) })
		if len(f.at) > 0 && len(read) == 0 && err != nil && failure.ClassifyError(err).Class == CursorRejected {
			f.r.Log.Warn("stored cursor was rejected: starting over", "stream", f.Stream)
			f.at = nil
			continue
		}
		if err != nil {
			return err
		}
		here, err := f.at.encodeCursor()
		if err != nil {
			return err
		}
		next, err := page.Next.encodeCursor()
		if err != nil {
			return err
		}
		read[string(here)] = true
		if err := f.sendSlice(ctx, page, next); err != nil {
			return err
		}
		if !page.More {
			return nil
		}
		if len(page.Records) > 0 {
			empty = 0
		} else if empty++; empty >= runstate.MaxEmptyPages {
			return Fail(Malformed, runstate.ErrEmptyPages)
		}
		if f.at = page.Next; read[string(next)] {
			return Fail(Malformed, runstate.ErrPageRepeats)
		}
	}
}

func (f *pagedStreamRun) sendSlice(ctx context.Context, page Page, next jsontext.Value) error {
	var left runstate.SliceMismatches
	for _, rec := range page.Records {
		fault, err := f.r.EmitRecord(ctx, f.Stream, rec.content)
		if err != nil {
			return err
		}
		left.AddFault(fault)
	}
	f.count += len(page.Records)
	if page.Listed != nil && f.r.Scope[f.Stream].IsUnrestricted() {
		f.r.Drift.CompareTotals(f.Stream, *page.Listed)
	}
	if err := f.r.DeclareMismatches(ctx, f.Stream, &left); err != nil {
		return err
	}
	if page.Whole != nil && !page.More {
		if err := f.r.CompareWithStore(ctx, f.Stream, runstate.StoreComparison(*page.Whole)); err != nil {
			return err
		}
	}
	if err := f.r.SendState(ctx, &protocol.State{Stream: f.Stream, Cursor: next}); err != nil {
		return err
	}
	if err := f.r.ReportProgress(ctx, f.Stream, f.count, page.Total, !page.More); err != nil {
		return err
	}
	return f.r.Out.Flush(ctx)
}
