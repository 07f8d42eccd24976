package rest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Row is one item of a collection.
type Row struct {
	ID      string
	N       int       // position in its collection, from zero
	At      time.Time // when the thing happened
	Version int       // number of changes
	Seq     int       // number of its last change in the store
	Gone    bool      // deleted
	Ghost   bool      // counted in its page and never shown
	Parent  *Row
	Data    Object
}

// ChangedSince reports whether a list of changes after seq has the row. A list from the beginning, with seq zero, has
// no deleted rows.
func (row *Row) ChangedSince(seq int) bool { return row.Seq > seq && (seq > 0 || !row.Gone) }

// Store holds rows by collection.
type Store struct {
	Seq  int // number of the last change
	Rows map[string][]*Row
}

func newStore() Store { return Store{Rows: map[string][]*Row{}} }

// NewStore returns an empty store for a part of an account that counts its changes separately.
func NewStore() *Store { s := newStore(); return &s }

// Add appends a row to a collection.
func (s *Store) Add(collection string, row *Row) *Row {
	row.N = len(s.Rows[collection])
	s.Rows[collection] = append(s.Rows[collection], row)
	s.Touch(row)
	return row
}

// Touch numbers a change of a row.
func (s *Store) Touch(row *Row) {
	s.Seq++
	row.Seq = s.Seq
}

// Live returns the rows of a collection that are not deleted.
func (s *Store) Live(collection string) []*Row {
	return Filter(s.Rows[collection], func(row *Row) bool { return !row.Gone })
}

// Find returns the live row with an id, or nil.
func (s *Store) Find(collection, id string) *Row {
	for _, row := range s.Rows[collection] {
		if row.ID == id && !row.Gone {
			return row
		}
	}
	return nil
}

// Filter returns the elements that fit.
func Filter[T any](all []T, fits func(T) bool) (out []T) {
	for _, x := range all {
		if fits(x) {
			out = append(out, x)
		}
	}
	return out
}

// Show renders elements. The result is never nil.
func Show[T any](all []T, show func(T) Object) []Object {
	out := make([]Object, 0, len(all))
	for _, x := range all {
		out = append(out, show(x))
	}
	return out
}

// Members returns the named members of an object.
func Members(o Object, names ...string) Object {
	out := Object{}
	for _, name := range names {
		out[name] = o[name]
	}
	return out
}

// Pick returns a random element that fits, or the zero value when there is none. Nil fits everything.
func Pick[T any](s *Service, all []T, fits func(T) bool) (chosen T) {
	if fits != nil {
		all = Filter(all, fits)
	}
	if len(all) > 0 {
		chosen = all[s.Random.IntN(len(all))]
	}
	return chosen
}

// Edit returns an operation that edits a random element of a pool. It changes nothing when none fits. The operations of
// one mutation edit different elements as long as there are such.
func Edit[T comparable](s *Service, pool func() []T, fits func(T) bool, edit func(T) string) func() string {
	return func() string {
		var none T
		all := Filter(pool(), func(x T) bool { return fits == nil || fits(x) })
		x := Pick(s, all, func(x T) bool { return !s.edited[x] })
		if x == none {
			x = Pick(s, all, nil)
		}
		if x == none {
			return ""
		}
		s.edited[x] = true
		return edit(x)
	}
}

// EditRow returns an operation that is [Service.Change].
func (s *Service) EditRow(collection string, fits func(*Row) bool, edit func(*Row)) func() string {
	return func() string { return s.Change(collection, fits, edit) }
}

// Change edits a random live row that fits and returns its id, or nothing when there is none.
func (s *Service) Change(collection string, fits func(*Row) bool, edit func(*Row)) string {
	there := func() []*Row {
		return Filter(s.Rows[collection], func(row *Row) bool { return !row.Gone && !row.Ghost })
	}
	return Edit(s, there, fits, func(row *Row) string {
		row.Version++
		s.Touch(row)
		edit(row)
		return row.ID
	})()
}

// Delete deletes a random live row that fits and returns its id.
func (s *Service) Delete(collection string, fits func(*Row) bool) string {
	return s.Change(collection, fits, func(row *Row) { row.Gone = true })
}

// Collection is a list of rows with its stream in the ground truth.
type Collection struct {
	Stream string
	Count  int // rows at the start
	// New fills At, Data and, unless Data has an "id", the ID of a row with its number N.
	New func(row *Row)
	// Edit is the change of the operation change_X.
	Edit func(row *Row)
	// Show renders a row, also a deleted one in a list of changes; nil renders Data, or the id and "deleted".
	Show func(row *Row) Object

	// Route serves the list, as in "GET /v1/tasks"; without one the provider serves it in a route of its own. Detail
	// serves one row, as in "GET /v1/tasks/{id}". In a list of children, Fits compares the parent with the path.
	Route, Detail, Scope string
	Pager                Pager
	Fits                 func(r *http.Request, row *Row) bool // which rows a request asks for; nil means all
	Order                func(a, b *Row) int                  // nil is the order of creation
}

// Open generates the rows of a collection and serves it.
func (s *Service) Open(c *Collection) {
	s.collections = append(s.collections, c)
	show := c.Show
	if c.Show == nil {
		c.Show = func(row *Row) Object { return row.Data } // as the ground truth has it
		show = func(row *Row) Object {
			if row.Gone {
				return Object{"id": row.Data["id"], "deleted": true}
			}
			return row.Data
		}
	}
	for range c.Count {
		s.AddTo(c)
	}
	if c.Detail != "" {
		s.Handle(c.Detail, c.Scope, func(r *http.Request) Answer {
			if row := s.Find(c.Stream, r.PathValue("id")); row != nil && !row.Ghost {
				return OK(c.Show(row))
			}
			return s.Refuse(r, NotFound, "id")
		})
	}
	if c.Route == "" {
		return
	}
	s.Handle(c.Route, c.Scope, func(r *http.Request) Answer {
		all := s.Rows[c.Stream]
		if c.Order != nil {
			all = slices.SortedStableFunc(slices.Values(all), c.Order)
		}
		keep := func(row *Row) bool { return c.Fits == nil || c.Fits(r, row) }
		return ListRows(s, r, c.Pager, all, keep, show)
	})
}

// AddTo adds a new row to a collection.
func (s *Service) AddTo(c *Collection) *Row {
	row := &Row{N: len(s.Rows[c.Stream]), At: s.Clock()}
	c.New(row)
	if row.ID == "" {
		row.ID = fmt.Sprint(row.Data["id"])
	}
	return s.Add(c.Stream, row)
}

// collectionOperation returns the operation that every collection has under a name, or nil.
func (s *Service) collectionOperation(name string) func() string {
	verb, stream, _ := strings.Cut(name, "_")
	for _, c := range s.collections {
		if c.Stream != stream {
			continue
		}
		switch verb {
		case "add":
			return func() string { return s.AddTo(c).ID }
		case "late": // the thing happened before others that are known already
			return func() string { return s.AddLate(c).ID }
		case "change":
			if c.Edit != nil {
				return func() string { return s.Change(stream, nil, c.Edit) }
			}
		case "delete":
			return func() string { return s.Delete(stream, nil) }
		}
	}
	return nil
}

// AddLate adds a row that happened before others that are known already.
func (s *Service) AddLate(c *Collection) *Row {
	clock := s.clock
	defer func() { s.clock = clock }()
	if older := Pick(s, s.Live(c.Stream), nil); older != nil {
		s.clock = older.At.Add(time.Minute)
	}
	return s.AddTo(c)
}

// SortByTime returns rows in the order of their time, the newest first unless ascending.
func SortByTime(rows []*Row, ascending bool) []*Row {
	return slices.SortedStableFunc(slices.Values(rows), func(a, b *Row) int {
		if ascending {
			a, b = b, a
		}
		return b.At.Compare(a.At)
	})
}
