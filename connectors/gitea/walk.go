package gitea

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// repositoryWalker reads one list of each repository by page number, and later only what changed since the previous
// walk. New items move others to later pages, where they are seen again; deleted items move others to earlier pages,
// where they may be missed. So the number of known items is compared with the server's total. If they differ, the
// list is read completely and absent items are deleted. A total that falls during a walk restarts the walk. A
// deletion that a new item compensates before the next page is found by the next full scan.
type repositoryWalker struct {
	run     *rest.Run
	account string // identifies the account, so that a bookmark is not used for another person
	kind    listKind
	walk    *repositoryPass // nil before the first page of a run
}

// listKind describes how the items of one stream are requested and read.
type listKind struct {
	list  string // its path below that of a repository
	query url.Values
	// since is set when the server can filter by change time. Otherwise the list is sorted by the last change, newest
	// first.
	since  bool
	offers func(wireRepo) bool
	stream string
	fields rest.Fields
	number string // member with the number of an item within its repository
	reader rest.ItemReader
	// key returns the key of an item's record.
	key func(repository, number int64) string
	// elsewhere is the search query for items of this kind; empty when there is none.
	elsewhere string
}

func (k listKind) collect(r *rest.Run) connectorkit.Collector {
	return connectorkit.PagedStream{Stream: k.stream, Page: (&repositoryWalker{run: r, kind: k}).fetchNextPage}
}

// repositoryMark is what the bookmark holds of one repository.
type repositoryMark struct {
	Name  string                  `json:"n,omitzero"` // of the repository, as in the stored records
	Read  string                  `json:"r,omitzero"` // when everything was read last
	Known *connectorkit.NumberSet `json:"-"`
	IDs   string                  `json:"i,omitzero"` // the same, packed
	Since string                  `json:"s,omitzero"` // everything that changed before is stored
	Until string                  `json:"u,omitzero"` // within a walk: the Since of the next
	Page  int                     `json:"p,omitzero"` // within a walk: the next page
	Seen  int                     `json:"c,omitzero"` // within a walk: how many things were on the pages before
	Total int                     `json:"t,omitzero"` // within a walk: the largest total that the server reported
	// Shift is set within a walk when that number fell, and with it things may have moved to pages before
	Shift bool `json:"d,omitzero"`
	Whole bool `json:"w,omitzero"` // within a walk: it asks for everything
	Short bool `json:"o,omitzero"` // everything was on one page
	// Foreign marks another person's repository in which the person opened something.
	Foreign bool `json:"f,omitzero"`
}

// repositoryPass is one way through the repositories.
type repositoryPass struct {
	marks map[string]*repositoryMark
	left  []wireRepo
	gone  []string // repositories that are no longer listed
	mine  map[int64]bool
	step  int // makes each bookmark different
	// unread is how many repositories could not be read, and with them what they hold.
	unread int
	closed bool // a list was refused

	// Of the list at hand:
	begun   bool
	first   bool           // it is read from its first page on in this run
	met     map[int64]bool // on the pages that were read
	damaged bool           // something on them could not be read
	count   bool           // its number is to be compared
	anew    int            // restarts so far

	search *openedSearch // what was opened elsewhere; nil until it begins
	found  bool          // and that has ended
	opened openedBookmark
}

func (t *repositoryWalker) fetchNextPage(ctx context.Context, at connectorkit.Cursor) (connectorkit.Page, error) {
	if t.walk == nil {
		if err := t.startWalk(ctx, at); err != nil {
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
		err = t.compareCount(ctx)
	case len(w.left) > 0:
		records, err = t.readListPage(ctx)
	case t.kind.elsewhere != "" && !w.found:
		records, err = t.searchOtherRepositories(ctx)
	case len(w.gone) > 0:
		records, err = t.checkUnlistedRepository(ctx)
	}
	if err != nil {
		return connectorkit.Page{}, err
	}
	more := len(w.left) > 0 || t.kind.elsewhere != "" && !w.found || len(w.gone) > 0
	page := connectorkit.Page{Records: records, Next: t.nextCursor(more), More: more}
	if !more {
		page.Whole = t.completeClaim()
	}
	return page, nil
}

// completeClaim is everything that the repositories hold; nil when something of it was not read, or has to be read
// again.
func (t *repositoryWalker) completeClaim() *connectorkit.Whole {
	w := t.walk
	if w.closed || t.kind.elsewhere != "" && w.opened.Since == "" {
		return nil
	}
	for _, m := range w.marks {
		if !m.Foreign && m.Since == "" {
			return nil
		}
	}
	return &connectorkit.Whole{Gone: connectorkit.AllKeysGone, Keys: func(yield func(string) bool) {
		for id, m := range w.marks {
			for _, n := range m.Known.All() {
				if !yield(t.kind.key(parseID(id), n)) {
					return
				}
			}
		}
	}}
}

// startWalk finds out which repositories there are.
func (t *repositoryWalker) startWalk(ctx context.Context, at connectorkit.Cursor) error {
	account, err := t.run.Account(ctx)
	if err != nil {
		return err
	}
	listed, err := t.run.Items(ctx, "repositories")
	if err != nil {
		return err
	}
	t.account = account
	w := &repositoryPass{marks: map[string]*repositoryMark{}, mine: map[int64]bool{}}
	w.step, _ = strconv.Atoi(at["step"]) // absent after a walk that was finished
	if at["account"] != t.account || json.Unmarshal([]byte(at["repositories"]), &w.marks) != nil || w.marks == nil {
		w.marks = map[string]*repositoryMark{}
	}
	if json.Unmarshal([]byte(at["opened"]), &w.opened) != nil || len(w.marks) == 0 {
		w.opened = openedBookmark{}
	}
	for id, m := range w.marks {
		if m == nil {
			delete(w.marks, id)
			continue
		}
		m.Known = connectorkit.ParseNumberSet(m.IDs)
	}
	for _, item := range listed {
		var r wireRepo
		switch {
		case json.Unmarshal(item.Raw, &r) != nil || r.ID <= 0 || r.apiPath() == "":
			w.unread++
		case !w.mine[r.ID]:
			w.mine[r.ID] = true
			if t.kind.offers(r) {
				w.left = append(w.left, r)
			}
		}
	}
	for id, m := range w.marks {
		n := parseID(id)
		if !w.mine[n] && !m.Foreign {
			w.gone = append(w.gone, id)
		}
	}
	slices.Sort(w.gone)
	t.walk = w
	return nil
}

func (w *repositoryPass) markOf(repository int64) *repositoryMark {
	id := formatID(repository)
	if w.marks[id] == nil {
		w.marks[id] = &repositoryMark{Known: &connectorkit.NumberSet{}}
	}
	return w.marks[id]
}

func (t *repositoryWalker) nextCursor(more bool) connectorkit.Cursor {
	for _, m := range t.walk.marks {
		m.IDs = m.Known.String()
	}
	text, err := json.Marshal(t.walk.marks, json.Deterministic(true))
	if err != nil {
		panic(err) // strings and numbers have a form
	}
	c := connectorkit.Cursor{"account": t.account, "repositories": string(text)}
	if t.kind.elsewhere != "" {
		c["opened"] = t.walk.opened.String()
	}
	if more {
		t.walk.step++
		c["step"] = strconv.Itoa(t.walk.step)
	}
	return c
}

// requestPage asks for a page of the list at hand.
func (t *repositoryWalker) requestPage(ctx context.Context, since string, page, limit int) (listPage, error) {
	query := url.Values{"state": {"all"}}
	for name, values := range t.kind.query {
		query[name] = values
	}
	if since != "" && t.kind.since {
		query.Set("since", since)
	}
	return t.fetchListPage(ctx, t.walk.left[0].apiPath()+t.kind.list, query, page, limit)
}

// readListPage reads one page of the list at hand.
func (t *repositoryWalker) readListPage(ctx context.Context) ([]connectorkit.Record, error) {
	w, r := t.walk, t.walk.left[0]
	m := w.markOf(r.ID)
	if !w.begun {
		w.begun, w.damaged, w.met = true, false, map[int64]bool{}
		if w.first = m.Page <= 1; w.first {
			m.Page, m.Seen, m.Until, m.Total, m.Shift = 1, 0, "", 0, false
			m.Whole = m.Since == "" || m.Short || m.Foreign || m.Name != r.FullName || fullScanIsDue(m.Read, m.Since)
			m.Short, m.Foreign = false, false
		}
	}
	since := m.Since
	if m.Whole {
		since = ""
	}
	got, err := t.requestPage(ctx, since, m.Page, defaultPageSize)
	if isNotFound(err) { // the repository has just gone, or its list is closed to this person
		w.closed = true
		w.nextRepository()
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if m.Page == 1 {
		m.Until = got.before
	}
	if got.total >= 0 && got.total < m.Total {
		if w.first && w.anew < maxListRestarts {
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
	if !ended && !got.isLastPage(m.Seen) {
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
		records = append(records, t.deleteUnseen(r.ID, m)...)
	}
	if !w.count {
		m.Since, m.Until, m.Whole = m.Until, "", false
		w.nextRepository()
	}
	return records, nil
}

// compareCount compares the number of known items of the current list with the server's total.
func (t *repositoryWalker) compareCount(ctx context.Context) error {
	w := t.walk
	m := w.markOf(w.left[0].ID)
	got, err := t.requestPage(ctx, "", 1, 1)
	if err != nil && !isNotFound(err) {
		return err
	}
	w.count, w.begun = false, false
	if err == nil && got.total >= 0 && got.total != m.Known.Len() {
		m.Since, m.Until = "", "" // which reads it whole
		return nil
	}
	m.Since, m.Until, m.Whole = m.Until, "", false
	w.nextRepository()
	return nil
}

// maxListRestarts bounds how often a list that shrinks while it is read is restarted in one run.
const maxListRestarts = 3

// fullScanInterval is the time between full scans. A server does not report a renamed label or milestone, nor a
// deleted comment.
const fullScanInterval = 7 * 24 * time.Hour

// fullScanIsDue reports whether everything must be read again, by the time of the last scan.
func fullScanIsDue(read, now string) bool {
	then, err := time.Parse(time.RFC3339, read)
	at, _ := time.Parse(time.RFC3339, now) // the zero time when the server sends no time
	return err != nil || at.Sub(then) > fullScanInterval
}

// deleteUnseen deletes known items that the walk did not see.
func (t *repositoryWalker) deleteUnseen(repository int64, m *repositoryMark) (records []connectorkit.Record) {
	for _, n := range m.Known.All() {
		if !t.walk.met[n] {
			m.Known.Remove(n)
			records = append(records, connectorkit.Delete(t.kind.key(repository, n)))
		}
	}
	return records
}

func (w *repositoryPass) nextRepository() { w.left, w.begun, w.anew = w.left[1:], false, 0 }

// checkUnlistedRepository requests a repository that is no longer listed. If the server does not know it, its records
// are deleted; if it is still visible, they stay.
func (t *repositoryWalker) checkUnlistedRepository(ctx context.Context) ([]connectorkit.Record, error) {
	w := t.walk
	id := w.gone[0]
	_, err := t.run.Fetch(ctx, governhttp.Request{Path: "repositories/" + id})
	if err != nil && !isNotFound(err) {
		return nil, err
	}
	w.gone = w.gone[1:]
	if err == nil {
		return nil, nil
	}
	repository := parseID(id)
	w.met = nil
	records := t.deleteUnseen(repository, w.marks[id])
	delete(w.marks, id)
	return records, nil
}

// isNotFound reports whether the server has no such object, or hides it from this person.
func isNotFound(err error) bool {
	var e *connectorkit.Error
	return errors.As(err, &e) && (e.Class == connectorkit.NotFound || e.Class == connectorkit.Gone)
}
