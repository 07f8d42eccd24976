package gitea

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// things goes through one list of each repository. A list is walked from its first page by the
// number of pages, and asked for what changed since the walk before. What is new while it is read
// moves things to later pages, where they are met again; what is deleted then moves them to
// earlier ones, where they may be missed. So what is known is held against the number that the
// server tells, and where that is another, the list is read whole: what is not there then is gone.
// A number that falls within a walk says the same of the walk, which begins anew; one that is made up
// for by something new before the next page is asked for is noticed with the next whole walk.
type things struct {
	*api
	kind kind
	walk *walk // nil before the first page of a run
}

// kind is how the things of one stream are asked for and read.
type kind struct {
	list  string // its path below that of a repository
	query url.Values
	// since says that the server gives what changed since a time. Otherwise the list comes by the
	// time of the last change, newest first.
	since  bool
	offers func(wireRepo) bool
	// read gives the number of a thing within its repository, zero when it cannot be read, and when
	// it changed last.
	read func(wireRepo, jsontext.Value) (number int64, changed string, record connectorkit.Record)
	// key is that of a thing's record.
	key func(repository, number int64) string
	// elsewhere is what a search for things of this kind is asked with; empty when there is none.
	elsewhere string
}

// mark is what the bookmark holds of one repository.
type mark struct {
	Name  string                `json:"n,omitzero"` // of the repository, which stands in what is stored
	Read  string                `json:"r,omitzero"` // when everything was read last
	Known *connectorkit.Numbers `json:"-"`
	IDs   string                `json:"i,omitzero"` // the same, packed
	Since string                `json:"s,omitzero"` // everything that changed before is stored
	Until string                `json:"u,omitzero"` // within a walk: the Since of the next
	Page  int                   `json:"p,omitzero"` // within a walk: the next page
	Seen  int                   `json:"c,omitzero"` // within a walk: how many things were on the pages before
	Total int                   `json:"t,omitzero"` // within a walk: the number that the server told, at most
	Shift bool                  `json:"d,omitzero"` // within a walk: that number fell, and with it things may have moved to pages before
	Whole bool                  `json:"w,omitzero"` // within a walk: it asks for everything
	Short bool                  `json:"o,omitzero"` // everything was on one page
	// Foreign says that the repository is another one's, in which the person opened something.
	Foreign bool `json:"f,omitzero"`
}

// walk is one way through the repositories.
type walk struct {
	marks map[string]*mark
	left  []wireRepo
	gone  []string // repositories that are no longer listed
	mine  map[int64]bool
	step  int // tells bookmarks apart
	// unread is how many repositories could not be read, and with them what they hold.
	unread int
	closed bool // a list was refused

	// Of the list at hand:
	begun   bool
	first   bool           // it is read from its first page on in this run
	met     map[int64]bool // on the pages that were read
	damaged bool           // something on them could not be read
	count   bool           // its number is to be compared
	anew    int            // how often it was begun anew

	search *search // what was opened elsewhere; nil until it begins
	found  bool    // and that has ended
	opened opened
}

func (t *things) page(ctx context.Context, at connectorkit.Cursor) (connectorkit.Page, error) {
	if t.walk == nil {
		if err := t.begin(ctx, at); err != nil {
			return connectorkit.Page{}, err
		}
	}
	w := t.walk
	var records []connectorkit.Record
	var err error
	switch {
	case w.unread > 0:
		for range w.unread {
			records = append(records, connectorkit.Unreadable("", nil))
		}
		w.unread = 0
	case len(w.left) > 0 && w.count:
		err = t.compare(ctx)
	case len(w.left) > 0:
		records, err = t.read(ctx)
	case t.kind.elsewhere != "" && !w.found:
		records, err = t.elsewhere(ctx)
	case len(w.gone) > 0:
		records, err = t.lost(ctx)
	}
	if err != nil {
		return connectorkit.Page{}, err
	}
	more := len(w.left) > 0 || t.kind.elsewhere != "" && !w.found || len(w.gone) > 0
	page := connectorkit.Page{Records: records, Next: t.bookmark(more), More: more}
	if !more {
		page.Whole = t.whole()
	}
	return page, nil
}

// whole is everything that the repositories hold; nil when something of it was not read, or has to be read again.
func (t *things) whole() *connectorkit.Whole {
	w := t.walk
	if w.closed || t.kind.elsewhere != "" && w.opened.Since == "" {
		return nil
	}
	for _, m := range w.marks {
		if !m.Foreign && m.Since == "" {
			return nil
		}
	}
	return &connectorkit.Whole{Gone: connectorkit.AllGone, Keys: func(yield func(string) bool) {
		for id, m := range w.marks {
			for _, n := range m.Known.All() {
				if !yield(t.kind.key(numbered(id), n)) {
					return
				}
			}
		}
	}}
}

// begin finds out which repositories there are.
func (t *things) begin(ctx context.Context, at connectorkit.Cursor) error {
	if err := t.know(ctx); err != nil {
		return err
	}
	all, err := t.repositories(ctx)
	if err != nil {
		return err
	}
	w := &walk{marks: map[string]*mark{}, mine: map[int64]bool{}, unread: t.unread}
	w.step, _ = strconv.Atoi(at["step"]) // absent after a walk that was finished
	if at["account"] != t.account() || json.Unmarshal([]byte(at["repositories"]), &w.marks) != nil || w.marks == nil {
		w.marks = map[string]*mark{}
	}
	if json.Unmarshal([]byte(at["opened"]), &w.opened) != nil || len(w.marks) == 0 {
		w.opened = opened{}
	}
	for id, m := range w.marks {
		if m == nil {
			delete(w.marks, id)
			continue
		}
		m.Known = connectorkit.NumbersOf(m.IDs)
	}
	for _, r := range all {
		w.mine[r.ID] = true
		if t.kind.offers(r) {
			w.left = append(w.left, r)
		}
	}
	for id, m := range w.marks {
		n := numbered(id)
		if !w.mine[n] && !m.Foreign {
			w.gone = append(w.gone, id)
		}
	}
	slices.Sort(w.gone)
	t.walk = w
	return nil
}

func (w *walk) mark(repository int64) *mark {
	id := number(repository)
	if w.marks[id] == nil {
		w.marks[id] = &mark{Known: &connectorkit.Numbers{}}
	}
	return w.marks[id]
}

func (t *things) bookmark(more bool) connectorkit.Cursor {
	for _, m := range t.walk.marks {
		m.IDs = m.Known.String()
	}
	text, err := json.Marshal(t.walk.marks, json.Deterministic(true))
	if err != nil {
		panic(err) // strings and numbers have a form
	}
	c := connectorkit.Cursor{"account": t.account(), "repositories": string(text)}
	if t.kind.elsewhere != "" {
		c["opened"] = t.walk.opened.String()
	}
	if more {
		t.walk.step++
		c["step"] = strconv.Itoa(t.walk.step)
	}
	return c
}

// ask asks for a page of the list at hand.
func (t *things) ask(ctx context.Context, since string, page, limit int) (list, error) {
	query := url.Values{"state": {"all"}}
	for name, values := range t.kind.query {
		query[name] = values
	}
	if since != "" && t.kind.since {
		query.Set("since", since)
	}
	return t.list(ctx, t.walk.left[0].path()+t.kind.list, query, page, limit)
}

// read reads one page of the list at hand.
func (t *things) read(ctx context.Context) ([]connectorkit.Record, error) {
	w, r := t.walk, t.walk.left[0]
	m := w.mark(r.ID)
	if !w.begun {
		w.begun, w.damaged, w.met = true, false, map[int64]bool{}
		if w.first = m.Page <= 1; w.first {
			m.Page, m.Seen, m.Until, m.Total, m.Shift = 1, 0, "", 0, false
			m.Whole = m.Since == "" || m.Short || m.Foreign || m.Name != r.FullName || due(m.Read, m.Since)
			m.Short, m.Foreign = false, false
		}
	}
	since := m.Since
	if m.Whole {
		since = ""
	}
	got, err := t.ask(ctx, since, m.Page, perPage)
	if absent(err) { // the repository has just gone, or its list is closed to this person
		w.closed = true
		w.next()
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if m.Page == 1 {
		m.Until = got.before
	}
	if got.total >= 0 && got.total < m.Total {
		if w.first && w.anew < mostAnew {
			w.anew++
			m.Page, w.begun = 0, false
			return nil, nil
		}
		m.Shift = true
	}
	m.Total = max(m.Total, got.total)
	var records []connectorkit.Record
	ended := false
	for _, raw := range got.rows {
		n, changed, record := t.kind.read(r, raw)
		if ended = n > 0 && !t.kind.since && changed < since; ended {
			break
		}
		records = append(records, record)
		if n <= 0 {
			w.damaged = true
			continue
		}
		m.Known.Add(n)
		w.met[n] = true
	}
	m.Seen += len(got.rows)
	if !ended && !got.last(m.Seen) {
		m.Page++
		return records, nil
	}
	if m.Whole {
		m.Name, m.Read, m.Short = r.FullName, m.Until, m.Page == 1
	}
	m.Page = 0
	switch {
	case m.Shift:
		m.Until = "" // the next run reads it whole
	case !m.Whole || !w.first:
		w.count = got.total >= 0
	case !w.damaged && (got.total < 0 || got.total == len(w.met)):
		records = append(records, t.forget(r.ID, m)...)
	}
	if !w.count {
		m.Since, m.Until, m.Whole = m.Until, "", false
		w.next()
	}
	return records, nil
}

// compare holds what is known of the list at hand against the number that the server tells.
func (t *things) compare(ctx context.Context) error {
	w := t.walk
	m := w.mark(w.left[0].ID)
	got, err := t.ask(ctx, "", 1, 1)
	if err != nil && !absent(err) {
		return err
	}
	w.count, w.begun = false, false
	if err == nil && got.total >= 0 && got.total != m.Known.Len() {
		m.Since, m.Until = "", "" // which reads it whole
		return nil
	}
	m.Since, m.Until, m.Whole = m.Until, "", false
	w.next()
	return nil
}

// mostAnew is how often a list that shrinks while it is read is begun anew in one run.
const mostAnew = 3

// again is how long a whole walk lasts. A server gives no sign of a label or a milestone that got
// another name, nor of a comment that was deleted, so that everything is read once in this time.
const again = 7 * 24 * time.Hour

// due tells whether everything is to be read again, by when it was and what is stored now.
func due(read, now string) bool {
	then, err := time.Parse(time.RFC3339, read)
	at, _ := time.Parse(time.RFC3339, now) // before everything, when the server does not tell the time
	return err != nil || at.Sub(then) > again
}

// forget deletes what is known and was not met.
func (t *things) forget(repository int64, m *mark) (records []connectorkit.Record) {
	for _, n := range m.Known.All() {
		if !t.walk.met[n] {
			m.Known.Remove(n)
			records = append(records, connectorkit.Delete(t.kind.key(repository, n)))
		}
	}
	return records
}

func (w *walk) next() { w.left, w.begun, w.anew = w.left[1:], false, 0 }

// lost asks for a repository that is no longer listed. Where nobody knows it, it is gone with
// everything in it; where it can still be seen, what is stored of it stays.
func (t *things) lost(ctx context.Context) ([]connectorkit.Record, error) {
	w := t.walk
	id := w.gone[0]
	_, err := t.client.Get(ctx, "/repositories/"+id, nil)
	if err != nil && !absent(err) {
		return nil, err
	}
	w.gone = w.gone[1:]
	if err == nil {
		return nil, nil
	}
	repository := numbered(id)
	w.met = nil
	records := t.forget(repository, w.marks[id])
	delete(w.marks, id)
	return records, nil
}

// absent tells whether the server knows no such thing, or nothing that it would tell this person.
func absent(err error) bool {
	var e *connectorkit.Error
	return errors.As(err, &e) && (e.Class == connectorkit.NotFound || e.Class == connectorkit.Gone)
}
