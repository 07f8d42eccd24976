package connectorkit

import (
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/protocol"
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

	// Completed means that details include the item's own record, through OfItem. The listed record is sent if
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

func (l ListDetail) begin(r *runState) collectorRun {
	w := &listDetailRun{
		ListDetail: l,
		r:          r,
		anchor:     l.List,
		detailing:  r.scope[l.Detail] != nil,
		book:       newLedger(),
		held:       map[string]protocol.GapEntry{},
		ahead:      map[string]fetchResult{},
		landed:     make(chan struct{}, 1),
	}
	if r.scope[l.List] == nil {
		w.anchor = l.Detail // a bookmark must belong to a stream in scope
	} else {
		r.bookmarks.accounts[l.List] = true
	}
	w.unchanged = r.stored(w.anchor, protocol.SteadyState)
	if len(w.unchanged) == 0 || w.unchanged.Kind() != '{' {
		w.unchanged = jsontext.Value("{}")
	}
	w.steady = steadyOf(w.unchanged)
	_, open := readWindow(r.stored(w.anchor, protocol.CatchUp))
	w.fresh = w.steady.Watermark.IsZero() && !open
	return w
}

// listDetailRun is a ListDetail during a run.
type listDetailRun struct {
	ListDetail
	r         *runState
	anchor    string // stream that carries the bookmarks
	detailing bool   // the detail stream is in scope
	unchanged jsontext.Value
	steady    steadyBookmark
	book      *keyLedger
	held      map[string]protocol.GapEntry // gaps served to this run and not settled, by key
	ahead     map[string]fetchResult       // requested ahead of its turn, by key
	coming    []Item                       // items with the next turns, for concurrent fetches
	landed    chan struct{}                // signals a finished call
	oneByOne  bool                         // the provider does not support several items per request
	listed    int
	short     map[string]bool // items of the slice with a record that is not sent yet
	met       map[string]bool // known items of the list, for the full scan
	metMore   bool            // more than the bookmark contains
	failures  int             // fetches that failed in a row
	fresh     bool            // it began without a bookmark
	announced bool
	concluded bool
}

func (l *listDetailRun) streams() []string { return []string{l.List, l.Detail} }

func (l *listDetailRun) list() string { return l.List }

// cut leaves the bookmarks unchanged: what was not listed is inside the catch-up window, or above the watermark.
func (l *listDetailRun) cut(ctx context.Context, d postponement) error {
	mark := l.r.bookmarks.sent[l.anchor]
	if mark == nil {
		mark = l.r.stored(l.anchor, protocol.SteadyState)
	}
	if err := l.r.listCut(ctx, l.List, l.anchor, mark, d); err != nil || mark.Kind() != '{' {
		return err
	}
	return l.state(ctx, protocol.SteadyState, mark, &protocol.KeyCoverage{})
}

// conclude sends the lane's only DETAIL_COVERAGE. A recovery run without gaps considered nothing and sends
// nothing.
func (l *listDetailRun) conclude(ctx context.Context) error {
	idle := l.r.start.RecoveryOnly && len(l.book.keys) == 0
	if l.concluded || !l.detailing || l.anchor != l.List || idle {
		return nil
	}
	l.concluded = true
	all := l.book.coverage(l.book.keys)
	return l.r.out.send(ctx, &protocol.DetailCoverage{
		Stream: l.Detail, StateStream: l.List, KeyCoverage: *all, ReferenceOnly: true,
		Considered: protocol.CountOf(int64(len(all.RequiredKeys) - l.book.backlogs)),
		Covered:    protocol.CountOf(int64(len(all.HydratedKeys))),
	})
}
