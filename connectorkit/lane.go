package connectorkit

import (
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"pdpp/protocol"
)

// Lane collects a list stream, newest first, and fetches the details of every
// item into a second stream. The kit keeps two bookmarks for it: the steady one
// says up to which time everything is accounted for, the catch-up one which
// older window is still being walked.
type Lane struct {
	List   string // stream of the items; it carries the bookmarks
	Detail string // stream of the details

	// ListPage reads one page of the window, newest first. It is called with the
	// token of the page before, or with none for the first.
	ListPage func(ctx context.Context, w Window) (ListPage, error)
	// Fetch reads the details of one item. Only Key and Locator are set when the
	// item comes from an earlier run's gap.
	Fetch func(ctx context.Context, item Item) ([]Record, error)

	// GoneWithDetail says that an item whose detail is Gone is itself removed at the
	// provider, whatever its list still shows: it is deleted from a list stream that
	// knows deletions. Without it an item stays as the list has it.
	GoneWithDetail bool

	// Completed says that details bring the item's own record as well, by OfItem. The list's is
	// sent where they are not had.
	Completed bool

	// Paired says that an item has one record of details, with its own key: it is deleted with the item.
	Paired bool

	// Census is how often, at most, the whole list is walked for what left it without a word;
	// zero means never. What is missing is asked for with Fetch, and what that calls Gone is
	// deleted from the list stream. What it shows for the first time below the watermark is collected.
	Census time.Duration

	// FetchMany reads the details of up to Many items with one request; nil, or a
	// Many below two, fetches them one by one. What it leaves out goes to Fetch. So do
	// the items of a call that the provider refuses as a whole (NotFound, Gone,
	// Forbidden), after which the run makes no other such call, and those of a call
	// that fails (Unavailable, Malformed), one of which may be at fault.
	FetchMany func(ctx context.Context, items []Item) ([]Fetched, error)
	Many      int

	// AtOnce says that Fetch may be called for several items at the same time, from several
	// goroutines. It is, for as many as the governor has lanes open: Setup.HTTP is told by
	// governor.Config.Lanes how many may ever be. Everything else is as with one call after
	// the other, and so is a run that the owner caps.
	AtOnce bool
}

// Fetched are the details of one of several items.
type Fetched struct {
	Key     string
	Records []Record
	// Err is set when the answer names the item and has no details of it. It counts
	// as an error of Fetch does.
	Err error
}

// Window is a span of content time, inclusive at both ends; a zero bound is
// open. A provider that cannot filter may ignore the bounds: the kit leaves out
// what is newer and stops at what is older.
type Window struct {
	Before time.Time
	After  time.Time
	Token  string
}

// ListPage is one page of a lane's list.
type ListPage struct {
	Items []Item // newest first
	Next  string // token of the next page; empty at the end
	Total int    // how many items the provider announces; zero when it does not
}

// Item is one listed thing. An item that could not be decoded has an Unreadable
// record and no key.
type Item struct {
	Key    string
	Time   time.Time // content time that the list is ordered by
	Record Record    // the list stream's record
	// Locator is what Fetch needs besides the key, as a JSON object without
	// secrets. It is kept with the gap of an item that could not be fetched.
	Locator jsontext.Value
}

func (l Lane) begin(r *run) worker {
	w := &lane{
		Lane: l, r: r, anchor: l.List,
		detailing: r.scope[l.Detail] != nil, book: newLedger(), held: map[string]protocol.GapEntry{}, ahead: map[string]fetched{},
		landed: make(chan struct{}, 1),
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
	_, open := windowOf(r.stored(w.anchor, protocol.CatchUp))
	w.fresh = w.steady.Watermark.IsZero() && !open
	return w
}

// lane is a lane at work.
type lane struct {
	Lane
	r         *run
	anchor    string // stream that carries the bookmarks
	detailing bool   // the detail stream is in scope
	unchanged jsontext.Value
	steady    steady
	book      *ledger
	held      map[string]protocol.GapEntry // gaps served to this run and not settled, by key
	ahead     map[string]fetched           // what was asked for ahead of its turn, by key
	coming    []Item                       // whose turn is next, of those that are fetched at once
	landed    chan struct{}                // one of them has been
	oneByOne  bool                         // the provider does not answer for several at once
	listed    int
	short     map[string]bool // items of the slice whose record is not sent yet
	met       map[string]bool // what the list has, as far as it is known; for the census
	metMore   bool            // and more than the bookmark says
	failures  int             // fetches that failed in a row
	fresh     bool            // it began without a bookmark
	announced bool
	concluded bool
}

func (l *lane) streams() []string { return []string{l.List, l.Detail} }

func (l *lane) list() string { return l.List }

// cut leaves the bookmarks as they are: what was not listed is inside the catch-up
// window, or above the watermark.
func (l *lane) cut(ctx context.Context, d deferral) error {
	mark := l.r.bookmarks.sent[l.anchor]
	if mark == nil {
		mark = l.r.stored(l.anchor, protocol.SteadyState)
	}
	if err := l.r.listCut(ctx, l.List, l.anchor, mark, d); err != nil || mark.Kind() != '{' {
		return err
	}
	return l.state(ctx, protocol.SteadyState, mark, &protocol.KeyCoverage{})
}

// conclude sends the lane's one DETAIL_COVERAGE. A run that only recovers and
// was served nothing considered nothing, and says nothing.
func (l *lane) conclude(ctx context.Context) error {
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
