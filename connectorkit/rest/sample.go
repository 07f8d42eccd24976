package rest

import (
	"cmp"
	"context"
	"maps"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// DailySample reads a list once a day by the provider's clock, for values that change often: balances, counts. {today}
// in requests and FromPartition("today") are the day.
type DailySample struct {
	// Bookmark is the name of the days in the bookmark. Empty means days.
	Bookmark string
}

func (d DailySample) collector(r *Run, s *Stream) (connectorkit.Collector, error) {
	w := &sampleWalk{bookmark: cmp.Or(d.Bookmark, "days"), r: r, s: s}
	return connectorkit.PagedStream{Stream: s.Name, Page: w.fetchPage}, nil
}

type sampleWalk struct {
	bookmark string
	r        *Run
	s        *Stream

	begun bool
	left  []Partition
	known map[string]string // days by partition
	page  string
	step  int
}

func (w *sampleWalk) fetchPage(ctx context.Context, at connectorkit.Cursor) (out connectorkit.Page, err error) {
	if !w.begun && w.s.Partitions == nil { // its answer has the provider's time
		if _, err := w.r.Account(ctx); err != nil {
			return out, err
		}
	}
	if !w.begun {
		if w.left, err = w.r.partitions(ctx, w.s); err != nil {
			return out, err
		}
		w.known, w.begun = readTexts(at[w.bookmark]), true
		w.step, _ = strconv.Atoi(at["step"]) // absent after a walk that was finished
	}
	today := w.r.Now().UTC().Format(time.DateOnly)
	for len(w.left) > 0 && w.page == "" && w.known[w.left[0].ID] == today {
		w.left = w.left[1:]
	}
	if len(w.left) > 0 {
		if out.Records, err = w.readPage(ctx, w.left[0], today); err != nil {
			return connectorkit.Page{}, err
		}
	}
	out.Next = connectorkit.Cursor{w.bookmark: encodeTexts(w.known)}
	if out.More = len(w.left) > 0; out.More {
		w.step++
		out.Next["step"] = strconv.Itoa(w.step)
	}
	return out, nil
}

func (w *sampleWalk) readPage(ctx context.Context, part Partition, today string) (records []connectorkit.Record,
	err error) {
	id := part.ID
	part.Values = maps.Clone(part.Values)
	if part.Values == nil {
		part.Values = map[string]string{}
	}
	part.Values["today"] = today
	got, err := w.r.page(ctx, w.s, Ask{Partition: part, Page: w.page}, nil)
	if err != nil && w.s.Partitions != nil && IfUnserved(err) { // the other partitions are readable
		w.left, w.page = w.left[1:], ""
		return []connectorkit.Record{connectorkit.Unreadable(w.s.Name+" of "+id, nil)}, nil
	}
	if err != nil {
		return nil, err
	}
	rows, _ := w.r.rows(w.s, got.items, part)
	for _, row := range rows {
		records = append(records, row.record())
	}
	if w.page = got.next; w.page == "" {
		w.left, w.known[id] = w.left[1:], today
	}
	return records, nil
}
