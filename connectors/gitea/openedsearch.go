package gitea

import (
	"context"
	"net/url"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// openedBookmark is what the bookmark holds of everything that the person opened, wherever that is.
type openedBookmark struct {
	Since string `json:"s,omitzero"` // everything that changed before is stored
	Read  string `json:"r,omitzero"` // when everything was read last
	Total int    `json:"t,omitzero"` // how many there were
}

func (o openedBookmark) String() string {
	text, err := json.Marshal(o)
	if err != nil {
		panic(err) // strings and numbers have a form
	}
	return string(text)
}

// openedSearch lists everything that the person opened and keeps what is in other people's repositories. It stops
// when nothing changed and the count is the same; otherwise it reads everything.
type openedSearch struct {
	page, seen int // zero while it is asked whether anything changed
	before     string
	met        map[string]bool // by key
	damaged    bool
}

// searchOtherRepositories makes one request of the search.
func (t *repositoryWalker) searchOtherRepositories(ctx context.Context) ([]connectorkit.Record, error) {
	w := t.walk
	o := &w.opened
	if w.search == nil {
		w.search = &openedSearch{met: map[string]bool{}}
		if o.Since == "" || fullScanIsDue(o.Read, o.Since) {
			w.search.page = 1
		}
	}
	s := w.search
	query := url.Values{"type": {t.kind.elsewhere}, "state": {"all"}, "created": {"true"}}
	if s.page == 0 {
		return nil, t.isUnchanged(ctx, query)
	}
	got, err := t.fetchListPage(ctx, "repos/issues/search", query, s.page, defaultPageSize)
	if err != nil {
		return nil, err
	}
	if s.page == 1 {
		s.before = got.before
	}
	var records []connectorkit.Record
	for _, raw := range got.rows {
		if record := t.readFoundElsewhere(raw); record != nil {
			records = append(records, *record)
		}
	}
	s.page++
	if s.seen += len(got.rows); !got.isLastPage(s.seen) {
		return records, nil
	}
	w.found = true
	if s.damaged || got.total >= 0 && s.seen != got.total {
		return records, nil // the next run reads it again
	}
	*o = openedBookmark{Since: s.before, Read: s.before, Total: s.seen}
	return append(records, t.deleteNotFound()...), nil
}

// isUnchanged asks whether everything is as it was.
func (t *repositoryWalker) isUnchanged(ctx context.Context, query url.Values) error {
	w := t.walk
	all, err := t.fetchListPage(ctx, "repos/issues/search", query, 1, 1)
	if err != nil {
		return err
	}
	if all.total == w.opened.Total {
		query.Set("since", w.opened.Since)
		changed, err := t.fetchListPage(ctx, "repos/issues/search", query, 1, 1)
		if err != nil {
			return err
		}
		if w.found = len(changed.rows) == 0; w.found {
			w.opened.Since = all.before
			return nil
		}
	}
	w.search.page = 1
	return nil
}

// readFoundElsewhere reads one of them; nil when it is in a repository of the person's, with which it came.
func (t *repositoryWalker) readFoundElsewhere(raw jsontext.Value) *connectorkit.Record {
	w := t.walk
	var of struct {
		Repository *wireRepo `json:"repository"`
	}
	if err := json.Unmarshal(raw, &of); err != nil || of.Repository == nil || of.Repository.ID <= 0 {
		w.search.damaged = true
		fault := connectorkit.Unreadable("", err)
		return &fault
	}
	r := *of.Repository
	if w.mine[r.ID] {
		return nil
	}
	n, _, record := t.kind.read(r, raw)
	if n <= 0 {
		w.search.damaged = true
		return &record
	}
	m := w.markOf(r.ID)
	m.Foreign = m.Foreign || m.Known.Len() == 0
	m.Known.Add(n)
	w.search.met[t.kind.key(r.ID, n)] = true
	return &record
}

// deleteNotFound deletes items in other repositories that the search no longer finds.
func (t *repositoryWalker) deleteNotFound() (records []connectorkit.Record) {
	w := t.walk
	for id, m := range w.marks {
		if !m.Foreign {
			continue
		}
		repository := parseID(id)
		for _, n := range m.Known.All() {
			if key := t.kind.key(repository, n); !w.search.met[key] {
				m.Known.Remove(n)
				records = append(records, connectorkit.Delete(key))
			}
		}
		if m.Known.Len() == 0 {
			delete(w.marks, id)
		}
	}
	return records
}
