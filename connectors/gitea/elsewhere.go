package gitea

import (
	"context"
	"net/url"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// opened is what the bookmark holds of everything that the person opened, wherever that is.
type opened struct {
	Since string `json:"s,omitzero"` // everything that changed before is stored
	Read  string `json:"r,omitzero"` // when everything was read last
	Total int    `json:"t,omitzero"` // how many there were
}

func (o opened) String() string {
	text, err := json.Marshal(o)
	if err != nil {
		panic(err) // strings and numbers have a form
	}
	return string(text)
}

// search goes through what the person opened and takes what is in other people's repositories. When
// nothing of it changed and there are as many as before, that is all; otherwise it is read whole.
type search struct {
	page, seen int // zero while it is asked whether anything changed
	before     string
	met        map[string]bool // by key
	damaged    bool
}

// elsewhere takes one step of it.
func (t *things) elsewhere(ctx context.Context) ([]connectorkit.Record, error) {
	w := t.walk
	o := &w.opened
	if w.search == nil {
		w.search = &search{met: map[string]bool{}}
		if o.Since == "" || due(o.Read, o.Since) {
			w.search.page = 1
		}
	}
	s := w.search
	query := url.Values{"type": {t.kind.elsewhere}, "state": {"all"}, "created": {"true"}}
	if s.page == 0 {
		return nil, t.still(ctx, query)
	}
	got, err := t.list(ctx, "/repos/issues/search", query, s.page, perPage)
	if err != nil {
		return nil, err
	}
	if s.page == 1 {
		s.before = got.before
	}
	var records []connectorkit.Record
	for _, raw := range got.rows {
		if record := t.found(raw); record != nil {
			records = append(records, *record)
		}
	}
	s.page++
	if s.seen += len(got.rows); !got.last(s.seen) {
		return records, nil
	}
	w.found = true
	if s.damaged || got.total >= 0 && s.seen != got.total {
		return records, nil // the next run reads it again
	}
	*o = opened{Since: s.before, Read: s.before, Total: s.seen}
	return append(records, t.withdrawn()...), nil
}

// still asks whether everything is as it was.
func (t *things) still(ctx context.Context, query url.Values) error {
	w := t.walk
	all, err := t.list(ctx, "/repos/issues/search", query, 1, 1)
	if err != nil {
		return err
	}
	if all.total == w.opened.Total {
		query.Set("since", w.opened.Since)
		changed, err := t.list(ctx, "/repos/issues/search", query, 1, 1)
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

// found reads one of them; nil when it is in a repository of the person's, with which it came.
func (t *things) found(raw jsontext.Value) *connectorkit.Record {
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
	m := w.mark(r.ID)
	m.Foreign = m.Foreign || m.Known.Len() == 0
	m.Known.Add(n)
	w.search.met[t.kind.key(r.ID, n)] = true
	return &record
}

// withdrawn deletes what was opened elsewhere and is not found any more.
func (t *things) withdrawn() (records []connectorkit.Record) {
	w := t.walk
	for id, m := range w.marks {
		if !m.Foreign {
			continue
		}
		repository := numbered(id)
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
