package rest

import (
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// ListDetail reads a list, newest first, and the details of each item into a second stream: see
// connectorkit.ListDetail. Details that cannot be fetched become gaps that later runs fill.
//
// The time of an item is the stream's consent time field.
type ListDetail struct {
	// Detail is the stream of the details. {key} in its request is the key of the item.
	Detail Stream
	// Before and After are the parameters of the list's bounds, which are inclusive. Empty sends none.
	Before, After string
	// Layout is the form of the bounds and of the items' times. Empty means RFC 3339 with fractions of a second.
	Layout string
	// Kit has the further settings of the collector; its streams and functions are set by the engine.
	Kit connectorkit.ListDetail
}

func (l ListDetail) collector(r *Run, s *Stream) (connectorkit.Collector, error) {
	if l.Layout == "" {
		l.Layout = time.RFC3339Nano
	}
	c := l.Kit
	c.List, c.Detail = s.Name, l.Detail.Name
	c.ListPage = func(ctx context.Context, w connectorkit.Window) (connectorkit.ListPage, error) {
		return l.listPage(ctx, r, s, w)
	}
	c.Fetch = func(ctx context.Context, item connectorkit.Item) ([]connectorkit.Record, error) {
		return l.fetch(ctx, r, item)
	}
	return c, nil
}

func (l *ListDetail) listPage(ctx context.Context, r *Run, s *Stream, w connectorkit.Window) (connectorkit.ListPage,
	error) {
	if _, err := r.Account(ctx); err != nil {
		return connectorkit.ListPage{}, err
	}
	ask := Ask{Page: w.Token, Window: Window{From: w.After, To: w.Before}}
	got, err := r.page(ctx, s, ask, func(q *governhttp.Request) {
		for param, bound := range map[string]time.Time{l.Before: w.Before, l.After: w.After} {
			if param != "" && !bound.IsZero() {
				setParam(q, param, bound.UTC().Format(l.Layout))
			}
		}
	})
	if err != nil {
		return connectorkit.ListPage{}, err
	}
	out := connectorkit.ListPage{Next: got.next, Total: got.total}
	rows, _ := r.rows(s, got.items, Partition{})
	for _, row := range rows {
		at, err := time.Parse(l.Layout, row.Time)
		if row.Key != "" && err != nil { // without a time it has no place in the list
			row = Row{Record: connectorkit.Unreadable(row.Key, err)}
		}
		out.Items = append(out.Items, connectorkit.Item{Key: row.Key, Time: at, Record: row.Record})
	}
	return out, nil
}

// fetch reads the details of one item. It may be called concurrently.
func (l *ListDetail) fetch(ctx context.Context, r *Run, item connectorkit.Item) ([]connectorkit.Record, error) {
	part := Partition{ID: item.Key, Values: map[string]string{"key": item.Key}, Parent: jsontext.Value(item.Locator)}
	var records []connectorkit.Record
	for token := ""; ; {
		ask := Ask{Partition: part, Page: token}
		q, err := r.request(ctx, &l.Detail, ask, nil)
		if err != nil {
			return nil, err
		}
		a, err := r.FetchFrom(ctx, l.Detail.Pool, q)
		if err != nil {
			return nil, err
		}
		got, err := l.Detail.selectPage(a, ask)
		if err != nil {
			return nil, err
		}
		rows, _ := r.rows(&l.Detail, got.items, part)
		for _, row := range rows {
			records = append(records, row.record())
		}
		if token = got.next; token == "" {
			return records, nil
		}
	}
}
