package connectorkit

import (
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit/internal/listdetail"
	"github.com/pdpp-go/pdpp/connectorkit/internal/runstate"
)

// ListDetail collects a list stream, newest first, and fetches the details of every item into a second stream.
// The kit keeps two bookmarks: the steady one contains the time up to which everything is accounted for, the
// catch-up one the older window that is still being walked.
type ListDetail struct {
	List   string // stream of the items; it carries the bookmarks
	Detail string // stream of the details

	// ListPage reads one page of the window, newest first. It is called with the token of the previous page, or
	// with none for the first.
	ListPage func(ctx context.Context, w Window) (ListPage, error)
	// Fetch reads the details of one item. Only Key and Locator are set if the item comes from the gap of an
	// earlier run.
	Fetch func(ctx context.Context, item Item) ([]Record, error)

	// GoneWithDetail means that an item with a Gone detail is itself deleted at the provider, whatever its list
	// shows. It is then deleted from a list stream that supports deletions. Otherwise an item stays as listed.
	GoneWithDetail bool

	// Completed means that details include the item's own record, through ListedRecord. The listed record is sent if
	// details are missing.
	Completed bool

	// Paired means that an item has one detail record with its own key, which is deleted with the item.
	Paired bool

	// Census is the minimum time between full scans of the list for deleted items. Zero means never. Missing
	// items are requested with Fetch, and those that are Gone are deleted from the list stream. Items that appear
	// for the first time below the watermark are collected.
	Census time.Duration

	// FetchMany reads the details of up to Many items with one request. Nil, or a Many below two, fetches them
	// one by one. Fetch gets the items that it omits. Fetch also gets the items of a call that the provider
	// refuses as a whole (NotFound, Gone, Forbidden), after which the run makes no other such call, and those of
	// a failed call (Unavailable, Malformed), because one item may be the cause.
	FetchMany func(ctx context.Context, items []Item) ([]Fetched, error)
	Many      int

	// AtOnce means that Fetch may be called for several items concurrently. The number is that of the governor's
	// open lanes; governor.Config.Lanes in Setup.HTTP is the maximum. Everything else is as with sequential
	// calls. A run that the owner caps stays sequential.
	AtOnce bool
}

// Fetched contains the details of one of several items.
type Fetched struct {
	Key     string
	Records []Record
	// Err is set if the response names the item without details. It counts like an error of Fetch.
	Err error
}

// Window is a span of content time, inclusive at both ends; a zero bound is open. A provider that cannot filter
// may ignore the bounds: the kit skips newer items and stops at older ones.
type Window struct {
	Before time.Time
	After  time.Time
	Token  string
}

// ListPage is one page of a ListDetail's list.
type ListPage struct {
	Items []Item // newest first
	Next  string // token of the next page; empty at the end
	Total int    // the provider's count of items; zero if unknown
}

// Item is one listed item. An item that could not be decoded has an Unreadable record and no key.
type Item struct {
	Key    string
	Time   time.Time // content time that the list is ordered by
	Record Record    // the list stream's record
	// Locator is what Fetch needs besides the key, as a JSON object without secrets. It is stored with the gap of
	// an item that could not be fetched.
	Locator jsontext.Value
}

func (l ListDetail) beginRun(r *runstate.Run) collectorRun {
	spec := listdetail.Spec{
		List: l.List, Detail: l.Detail, GoneWithDetail: l.GoneWithDetail, Completed: l.Completed, Paired: l.Paired,
		Census: l.Census, Many: l.Many, AtOnce: l.AtOnce,
		ListPage: func(ctx context.Context, w listdetail.Window) (listdetail.Page, error) {
			page, err := l.ListPage(ctx, Window(w))
			out := listdetail.Page{Items: make([]listdetail.Item, len(page.Items)), Next: page.Next, Total: page.Total}
			for i, item := range page.Items {
				out.Items[i] = listdetail.Item{Key: item.Key, Time: item.Time, Record: item.Record.content, Locator: item.Locator}
			}
			return out, err
		},
		Fetch: func(ctx context.Context, item listdetail.Item) ([]runstate.Record, error) {
			records, err := l.Fetch(ctx, listedItem(item))
			return contentOf(records), err
		},
	}
	if l.FetchMany != nil {
		spec.FetchMany = func(ctx context.Context, items []listdetail.Item) ([]listdetail.Fetched, error) {
			wanted := make([]Item, len(items))
			for i, item := range items {
				wanted[i] = listedItem(item)
			}
			got, err := l.FetchMany(ctx, wanted)
			out := make([]listdetail.Fetched, len(got))
			for i, f := range got {
				out[i] = listdetail.Fetched{Key: f.Key, Records: contentOf(f.Records), Err: f.Err}
			}
			return out, err
		}
	}
	return listdetail.NewRun(spec, r)
}

func listedItem(item listdetail.Item) Item {
	return Item{item.Key, item.Time, Record{item.Record}, item.Locator}
}

func contentOf(records []Record) []runstate.Record {
	out := make([]runstate.Record, len(records))
	for i, rec := range records {
		out[i] = rec.content
	}
	return out
}
