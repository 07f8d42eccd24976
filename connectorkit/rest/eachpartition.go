package rest

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"iter"
	"strconv"
	"sync/atomic"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest/internal/parttimes"
)

// EachPartition reads each partition of a stream on its own: see connectorkit.Partitioned. A partition that cannot be
// read is one gap, which a later run fills. It suits streams with many partitions, such as the children of parents.
//
// Without Windows every run reads all partitions, and records that a whole walk and a second look do not find are
// deleted.
type EachPartition struct {
	// Parts iterates over the partitions, instead of Stream.Partitions. A partition without an ID means a parent
	// that cannot be read: it is counted and declared. Each partition needs a Parent: it is stored with a gap.
	Parts func(ctx context.Context, r *Run) iter.Seq2[Partition, error]
	// Single means that one answer has the whole partition. Several are then requested at once, as many as the governor
	// has lanes, and a partition that the provider does not serve is a final gap. Otherwise it is a declared skip. The
	// hooks of the stream must be safe for concurrent use.
	Single bool
	// Windows reads each partition by time. The bookmark holds the newest time of each partition.
	Windows *DateWindows
	// Times bounds the partitions with a time of their own in the bookmark. Beyond it all have one time, and the run
	// declares what that cannot find. Zero means 10,000.
	Times int
	// KeepMissing deletes nothing.
	KeepMissing bool
	// Most bounds the partitions that one walk reads; the rest is deferred to the next run. Zero means no bound.
	Most int
}

const (
	// partsPerPage is how many partitions are listed at once.
	partsPerPage = 100
	// defaultPartTimes is the default of Times.
	defaultPartTimes = 10_000
)

func (e EachPartition) collector(r *Run, s *Stream) (connectorkit.Collector, error) {
	w := &partWalk{EachPartition: e, r: r, s: s}
	if e.Windows != nil {
		d, err := e.Windows.withDefaults(r)
		if err != nil {
			return nil, err
		}
		w.Windows = &d
	}
	w.Times = cmp.Or(w.Times, defaultPartTimes)
	w.marks = parttimes.ReadTimes(r.Setup.Stored(s.Name), r.Setup.Now(), w.Times)
	c := connectorkit.Partitioned{Stream: s.Name, List: w.list, Fetch: w.fetch, Bookmark: w.bookmark, Done: w.done,
		Note: w.note, Most: e.Most, AtOnce: e.Single && !s.Shared}
	if !e.KeepMissing && e.Windows == nil {
		c.Confirm = w.confirm
	}
	r.Setup.AtEnd(func(context.Context) { w.endListing() })
	return c, nil
}

// partWalk is one walk through the partitions.
type partWalk struct {
	EachPartition
	r *Run
	s *Stream

	next func() (Partition, error, bool) // the next partition
	stop func()
	page int

	listed   listSum
	hydrated int         // partitions that were read
	noList   atomic.Bool // an answer lacked the list
	spool    *itemList   // of the items of a Shared stream
	marks    *parttimes.Times
}

// listSum identifies the partitions of a listing, in any order.
type listSum struct {
	count int
	sum   uint64
}

var listSeed = maphash.MakeSeed()

func (l *listSum) add(id string) { l.count, l.sum = l.count+1, l.sum+maphash.String(listSeed, id) }

// partLocator is what a gap of a partition holds.
type partLocator struct {
	Values map[string]string `json:"values,omitempty"`
	Parent jsontext.Value    `json:"parent,omitzero"`
	// From is the time of the bookmark from which the partition is read by windows.
	From string `json:"from"`
}

// list returns a page of partitions.
func (w *partWalk) list(ctx context.Context, token string) (out connectorkit.PartPage, err error) {
	if token == "" {
		w.endListing()
		w.next, w.stop = iter.Pull2(w.r.eachPartition(ctx, w.s))
		w.listed, w.page = listSum{}, 0
	}
	for len(out.Parts) < partsPerPage {
		part, err, more := w.next()
		if err != nil {
			w.endListing()
			return out, err
		}
		if !more {
			return out, nil
		}
		p := connectorkit.Part{Key: part.ID}
		w.listed.add(part.ID)
		if part.ID != "" {
			p.Locator, err = json.Marshal(partLocator{part.Values, part.Parent, w.marks.From(part.ID)}, json.Deterministic(true))
			if err != nil {
				return out, malformed(err)
			}
		}
		out.Parts = append(out.Parts, p)
	}
	w.page++
	out.Next = strconv.Itoa(w.page)
	return out, nil
}

func (w *partWalk) endListing() {
	if w.stop != nil {
		w.stop()
		w.stop = nil
	}
}

// fetch reads a partition. It may be called concurrently if the stream is Single.
func (w *partWalk) fetch(ctx context.Context, p connectorkit.Part) (out []connectorkit.Record, err error) {
	var at partLocator
	if err := json.Unmarshal(p.Locator, &at); err != nil {
		return nil, malformed(fmt.Errorf("the gap of a partition cannot be read: %w", err))
	}
	part := Partition{ID: p.Key, Values: at.Values, Parent: at.Parent}
	send := func(records []connectorkit.Record, last bool) error {
		out = append(out, records...)
		if last || p.Emit == nil {
			return nil
		}
		err := p.Emit(ctx, out)
		out = nil
		return err
	}
	if w.Windows != nil {
		err = w.readWindows(ctx, part, at.From, send)
		return out, err
	}
	err = w.readPages(ctx, part, func(rows []Row, items []jsontext.Value, last bool) error {
		records := make([]connectorkit.Record, 0, len(rows))
		for i := range rows {
			if !rows[i].Deleted { // the list misses it
				records = append(records, rows[i].Record)
			}
		}
		if err := w.keepItems(part, items); err != nil {
			return err
		}
		return send(records, last)
	})
	if err != nil && !w.Single && IfUnserved(err) { // the other partitions are readable
		return append(out, connectorkit.Unreadable(w.s.Name+" of "+part.ID, nil)), nil
	}
	return out, err
}

// readPages reads the pages of a partition and passes each on.
func (w *partWalk) readPages(ctx context.Context, part Partition,
	each func(rows []Row, items []jsontext.Value, last bool) error) error {
	token, seen := "", map[string]bool{}
	for {
		ask := Ask{Partition: part, Page: token}
		q, err := w.r.request(ctx, w.s, ask, nil)
		if err != nil {
			return err
		}
		fetch := w.r.fetchInOrder
		if w.Single {
			fetch = w.r.FetchFrom
		}
		a, err := fetch(ctx, w.s.Pool, q)
		if err != nil {
			return err
		}
		got, err := w.s.selectPage(a, ask)
		if err != nil {
			return err
		}
		if a.NoList {
			w.noList.Store(true)
		}
		rows, _ := w.r.rows(w.s, got.items, part)
		if err := each(rows, got.items, got.next == ""); err != nil || got.next == "" {
			return err
		}
		if seen[got.next] {
			return malformed(errRepeatedPage)
		}
		seen[got.next] = true
		token = got.next
	}
}

// readWindows reads the windows of a partition since its time in the bookmark.
func (w *partWalk) readWindows(ctx context.Context, part Partition, from string,
	send func(records []connectorkit.Record, last bool) error) error {
	if own, known := w.marks.Own(part.ID); known {
		from = own
	}
	mark := &windowMark{from: from, known: map[string]string{}}
	walk := &windowWalk{DateWindows: *w.Windows, r: w.r, s: w.s, onePart: true, begun: true,
		marks: map[string]*windowMark{part.ID: mark}}
	if err := walk.setPeriod(ctx); err != nil {
		return err
	}
	w.marks.Limit(walk.last)
	for walk.beginPartition([]Partition{part}); len(walk.parts) > 0; {
		page, err := walk.readPage(ctx, nil)
		if err != nil {
			return err
		}
		if err := send(page.Records, len(walk.parts) == 0); err != nil {
			return err
		}
	}
	w.marks.Found(part.ID, mark.from)
	return nil
}

// keepItems keeps the items of a Shared stream.
func (w *partWalk) keepItems(part Partition, items []jsontext.Value) error {
	if !w.s.Shared {
		return nil
	}
	if w.spool == nil {
		w.spool = w.r.newList()
	}
	return w.spool.addItems(part, items)
}

// done notes that a partition was read and all of its records were sent.
func (w *partWalk) done(key string) {
	w.hydrated++
	w.marks.Accept(key)
}

// bookmark returns the bookmark after the partitions so far.
func (w *partWalk) bookmark(finished bool) connectorkit.Cursor {
	if finished && w.spool != nil && w.hydrated == w.listed.count {
		w.r.parents[w.s.Name] = w.spool
	}
	if w.Windows == nil {
		return connectorkit.Cursor{}
	}
	return w.marks.Bookmark(finished, w.Windows.Layout)
}

// note returns what the owner must know of a bookmark with one time for all partitions.
func (w *partWalk) note() string {
	if !w.marks.Shared() {
		return ""
	}
	return fmt.Sprintf("The list has more than %d parts, so one date is kept for all of them. Records that are older "+
		"than that date are not found in a part that appears later.", w.Times)
}

// confirm lists the partitions again, and reads them again unless each has one answer. It returns the keys that it does
// not find either.
func (w *partWalk) confirm(ctx context.Context, keys []string) ([]string, error) {
	if w.noList.Load() {
		return nil, connectorkit.ErrNotConfirmed
	}
	missing := make(map[string]bool, len(keys))
	for _, key := range keys {
		missing[key] = true
	}
	clear(w.r.parents) // parents are listed again
	again := listSum{}
	for part, err := range w.r.eachPartition(ctx, w.s) {
		if err != nil {
			return nil, err
		}
		if again.add(part.ID); w.Single || part.ID == "" {
			continue
		}
		err := w.readPages(ctx, part, func(rows []Row, _ []jsontext.Value, _ bool) error {
			for i := range rows {
				delete(missing, rows[i].Key)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if again != w.listed || w.noList.Load() {
		return nil, connectorkit.ErrNotConfirmed
	}
	gone := keys[:0:0]
	for _, key := range keys {
		if missing[key] {
			gone = append(gone, key)
		}
	}
	return gone, nil
}
