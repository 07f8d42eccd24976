// Package listdetail runs a list with details: it walks the list newest first, fetches the details of each item, and
// keeps a gap for everything that could not be fetched.
package listdetail

import (
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit/internal/runstate"
	"github.com/pdpp-go/pdpp/protocol"
)

// Spec is a list with details: see connectorkit.ListDetail, where each member is explained.
type Spec struct {
	List, Detail                      string
	ListPage                          func(ctx context.Context, w Window) (Page, error)
	Fetch                             func(ctx context.Context, item Item) ([]runstate.Record, error)
	GoneWithDetail, Completed, Paired bool
	Census                            time.Duration
	FetchMany                         func(ctx context.Context, items []Item) ([]Fetched, error)
	Many                              int
	AtOnce                            bool

	// Parts means that the list has no stream, no times and no order: see connectorkit.Partitioned. Its members below
	// are set then, and List is empty.
	Parts bool
	// Bookmark returns the bookmark of the detail stream. Done is set after a walk that considered the whole list.
	Bookmark func(done bool) jsontext.Value
	// Done is called for each part that was read.
	Done func(key string)
	// Note returns a sentence about what a finished walk cannot find, or "".
	Note func() string
	// MostParts bounds the parts that one walk reads.
	MostParts int
	// Confirm returns which keys that a whole walk did not find are gone. Nil means that nothing is deleted.
	Confirm func(ctx context.Context, keys []string) ([]string, error)
}

// Fetched contains the details of one of several items.
type Fetched struct {
	Key     string
	Records []runstate.Record
	Err     error
}

// Window is a span of content time, inclusive at both ends; a zero bound is open.
type Window struct {
	Before, After time.Time
	Token         string
}

// Page is one page of the list, newest first.
type Page struct {
	Items []Item
	Next  string
	Total int
}

// Item is one listed item. An item that could not be decoded has an unreadable record and no key.
type Item struct {
	Key     string
	Time    time.Time
	Record  runstate.Record
	Locator jsontext.Value
	// Emit sends records of a part before Fetch returns. It is nil if Fetch must return all records.
	Emit func(ctx context.Context, records []runstate.Record) error
}

// NewRun begins the run of a list with details.
func NewRun(l Spec, r *runstate.Run) *Run {
	w := &Run{
		Spec:      l,
		r:         r,
		anchor:    l.List,
		detailing: r.Scope[l.Detail] != nil,
		book:      newKeyLedger(),
		held:      map[string]protocol.GapEntry{},
		ahead:     map[string]fetchResult{},
		landed:    make(chan struct{}, 1),
	}
	if r.Scope[l.List] == nil {
		w.anchor = l.Detail // a bookmark must belong to a stream in scope
	} else {
		r.Bookmarks.Accounts[l.List] = true
	}
	w.unchanged = r.StoredBookmark(w.anchor, protocol.SteadyState)
	if len(w.unchanged) == 0 || w.unchanged.Kind() != '{' {
		w.unchanged = jsontext.Value("{}")
	}
	w.steady = ReadSteadyBookmark(w.unchanged)
	_, open := ReadWindow(r.StoredBookmark(w.anchor, protocol.CatchUp))
	w.fresh = w.steady.Watermark.IsZero() && !open
	return w
}

// Run is a list with details during a run.
type Run struct {
	Spec
	r         *runstate.Run
	anchor    string // stream that carries the bookmarks
	detailing bool   // the detail stream is in scope
	unchanged jsontext.Value
	steady    SteadyBookmark
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
	walking   bool // the runner records the keys of a walk through all parts
}

// StreamNames returns the list and the detail stream.
func (l *Run) StreamNames() []string {
	if l.Parts {
		return []string{l.Detail}
	}
	return []string{l.List, l.Detail}
}

// ListStream returns the stream of the list.
func (l *Run) ListStream() string {
	if l.Parts {
		return l.Detail
	}
	return l.List
}

// DeclareCutShort leaves the bookmarks unchanged: what was not listed is inside the catch-up window, or above the
// watermark.
func (l *Run) DeclareCutShort(ctx context.Context, d runstate.Postponement) error {
	mark := l.r.Bookmarks.Sent[l.anchor]
	if mark == nil {
		mark = l.r.StoredBookmark(l.anchor, protocol.SteadyState)
	}
	if err := l.r.DeclareListCut(ctx, l.ListStream(), l.anchor, mark, d); err != nil || mark.Kind() != '{' {
		return err
	}
	return l.sendSliceState(ctx, protocol.SteadyState, mark, &protocol.KeyCoverage{})
}

// ConcludeWork sends the lane's only DETAIL_COVERAGE. A recovery run without gaps considered nothing and sends
// nothing.
func (l *Run) ConcludeWork(ctx context.Context) error {
	idle := l.r.Start.RecoveryOnly && len(l.book.keys) == 0
	if l.concluded || !l.detailing || l.anchor != l.List || idle {
		return nil
	}
	l.concluded = true
	all := l.book.keyCoverage(l.book.keys)
	return l.r.Out.Send(ctx, &protocol.DetailCoverage{
		Stream: l.Detail, StateStream: l.List, KeyCoverage: *all, ReferenceOnly: true,
		Considered: protocol.CountOf(int64(len(all.RequiredKeys) - l.book.backlogs)),
		Covered:    protocol.CountOf(int64(len(all.HydratedKeys))),
	})
}
