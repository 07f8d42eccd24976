package connectorkit

import (
	"context"
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/protocol"
)

// maxEmptyPages bounds how many empty pages in a row may announce more. Beyond it the provider is not making
// progress.
const maxEmptyPages = 100

var (
	errRepeats = errors.New("the next page is one that was already read")
	errEmpty   = errors.New("page after page is empty and promises more")
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

func (f PagedStream) begin(r *runState) collectorRun { return &flat{PagedStream: f, r: r} }

type flat struct {
	PagedStream
	r     *runState
	at    Cursor // of the next page
	count int
}

func (f *flat) streams() []string { return []string{f.Stream} }

func (f *flat) list() string { return f.Stream }

func (f *flat) cut(ctx context.Context, d postponement) error {
	mark, err := f.at.encode()
	if err != nil {
		return err
	}
	if err := f.r.listCut(ctx, f.Stream, f.Stream, mark, d); err != nil {
		return err
	}
	if len(f.at) == 0 {
		return nil // nothing was read; the stored records stay
	}
	return f.r.state(ctx, &protocol.State{Stream: f.Stream, Cursor: mark})
}

func (f *flat) conclude(context.Context) error { return nil }

func (f *flat) forward(ctx context.Context) error {
	f.at = readCursor(f.r.stored(f.Stream, protocol.SteadyState))
	read := map[string]bool{}
	empty := 0
	if len(f.at) == 0 && f.r.comparable(f.Stream) {
		if err := f.r.beginWalk(ctx, f.Stream); err != nil {
			return err
		}
	}
	for {
		if err := f.r.out.flush(ctx); err != nil {
			return err
		}
		page, err := listPage(ctx, f.r, func() (Page, error) { return f.Page(ctx, f.at) })
		if len(f.at) > 0 && len(read) == 0 && err != nil && classify(err).Class == CursorRejected {
			f.r.log.Warn("stored cursor was rejected: starting over", "stream", f.Stream)
			f.at = nil
			continue
		}
		if err != nil {
			return err
		}
		here, err := f.at.encode()
		if err != nil {
			return err
		}
		next, err := page.Next.encode()
		if err != nil {
			return err
		}
		read[string(here)] = true
		if err := f.slice(ctx, page, next); err != nil {
			return err
		}
		if !page.More {
			return nil
		}
		if len(page.Records) > 0 {
			empty = 0
		} else if empty++; empty >= maxEmptyPages {
			return Fail(Malformed, errEmpty)
		}
		if f.at = page.Next; read[string(next)] {
			return Fail(Malformed, errRepeats)
		}
	}
}

func (f *flat) slice(ctx context.Context, page Page, next jsontext.Value) error {
	var left sliceMismatches
	for _, rec := range page.Records {
		fault, err := f.r.emit(ctx, f.Stream, rec)
		if err != nil {
			return err
		}
		left.add(fault)
	}
	f.count += len(page.Records)
	if page.Listed != nil && f.r.scope[f.Stream].whole() {
		f.r.drift.expect(f.Stream, *page.Listed)
	}
	if err := f.r.declare(ctx, f.Stream, &left); err != nil {
		return err
	}
	if page.Whole != nil && !page.More {
		if err := f.r.compare(ctx, f.Stream, *page.Whole); err != nil {
			return err
		}
	}
	if err := f.r.state(ctx, &protocol.State{Stream: f.Stream, Cursor: next}); err != nil {
		return err
	}
	if err := f.r.report(ctx, f.Stream, f.count, page.Total, !page.More); err != nil {
		return err
	}
	return f.r.out.flush(ctx)
}
