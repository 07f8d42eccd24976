package rest

import (
	"context"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// RecentItems reads a list of which the provider keeps only the newest part, newest first. If it does not reach what
// an earlier run has seen, items were lost, and the loss is declared.
//
// The time of an item is the stream's consent time field, in RFC 3339.
type RecentItems struct {
	// StopAtKnown ends a walk at the first item that is older than the newest known one. Otherwise a walk reads all that
	// the provider keeps, which finds items that come late.
	StopAtKnown bool
	// Conditional makes the first request conditional, with the ETag of the last time.
	Conditional bool
}

const (
	// maxRecentPages bounds a walk: many times what providers keep.
	maxRecentPages = 50
	// sortableTime is one spelling of times, which sorts as they do.
	sortableTime = "2006-01-02T15:04:05.000Z"
)

func (c RecentItems) collector(r *Run, s *Stream) (connectorkit.Collector, error) {
	return connectorkit.PagedStream{Stream: s.Name, Page: (&recentWalk{RecentItems: c, r: r, s: s}).fetchPage}, nil
}

type recentWalk struct {
	RecentItems
	r *Run
	s *Stream

	pages          int
	since          string // time of the newest item that an earlier run has seen
	newest, oldest string
	next, etag     string
	step           int // makes the bookmarks of unfinished walks different
}

func (w *recentWalk) fetchPage(ctx context.Context, at connectorkit.Cursor) (out connectorkit.Page, err error) {
	part := Partition{}
	if parts, err := w.r.partitions(ctx, w.s); err != nil {
		return out, err
	} else if len(parts) > 0 {
		part = parts[0]
	}
	if w.pages == 0 {
		w.since, w.next = at["since"], ""
		if known, err := time.Parse(time.RFC3339Nano, w.since); err == nil {
			w.since = known.UTC().Format(sortableTime)
		}
		w.newest = w.since
		w.step, _ = strconv.Atoi(at["step"]) // absent after a walk that was finished
	}
	got, err := w.r.page(ctx, w.s, Ask{Partition: part, Page: w.next}, func(q *governhttp.Request) {
		if w.Conditional && w.pages == 0 {
			setCondition(q, at["etag"])
		}
	})
	if rec, ok := w.s.declared(err); ok {
		return connectorkit.Page{Records: []connectorkit.Record{rec}, Next: at}, nil
	}
	if err != nil {
		return out, err
	}
	if got.answer.Unchanged {
		return connectorkit.Page{Next: at}, nil
	}
	if w.pages++; w.pages == 1 && w.Conditional {
		w.etag = got.answer.Header.Get("ETag")
	}
	known := w.read(&out, got, part)
	if got.next != "" && len(got.items) > 0 && !known {
		if w.pages >= maxRecentPages {
			return connectorkit.Page{}, malformed(errRepeatedPage)
		}
		w.next = got.next
		w.step++
		out.More = true
		out.Next = connectorkit.Cursor{"since": w.since, "step": strconv.Itoa(w.step)}
		return out, nil
	}
	if w.since != "" && !known && w.oldest > w.since {
		out.Records = append(out.Records, connectorkit.Unreadable(w.s.Name+" before "+w.oldest, nil))
	}
	out.Next = connectorkit.Cursor{"since": w.newest}
	if w.etag != "" {
		out.Next["etag"] = w.etag
	}
	return out, nil
}

// read makes records of a page. It reports whether the walk has reached an item that is older than the known ones.
func (w *recentWalk) read(out *connectorkit.Page, got *listedPage, part Partition) (known bool) {
	rows, _ := w.r.rows(w.s, got.items, part)
	for _, row := range rows {
		at, err := time.Parse(time.RFC3339Nano, row.Time)
		if row.Key == "" || err != nil {
			if row.Key != "" {
				row.Record = connectorkit.Unreadable(row.Key, err)
			}
			out.Records, w.etag = append(out.Records, row.Record), ""
			continue
		}
		moment := at.UTC().Format(sortableTime)
		if w.StopAtKnown && moment < w.since {
			return true
		}
		out.Records = append(out.Records, row.Record)
		w.oldest, w.newest = moment, max(w.newest, moment)
	}
	return false
}
