package readapi

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/pdpp-go/pdpp/internal/share/embedding"
	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/share/readapi/grantview"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// before is where a page of a search ended.
type before struct {
	ID int64 `json:"i"`
}

func (a *api) search(r *http.Request, who grants.Access) (any, error) {
	q, err := parseQuery(r, "q", "stream", "connection_id", "limit", "cursor")
	if err != nil {
		return nil, err
	}
	if q.text == "" {
		return nil, invalidRequest("q", "The words to search for are missing.", "Write q=words.")
	}
	if err := onceOnly(who); err != nil {
		return nil, err
	}
	views, parts, err := a.searched(r, who, q)
	if err != nil {
		return nil, err
	}
	context := grants.Context(who.ID(), q.text, q.stream, q.connection)
	var from before
	if q.cursor != "" {
		if err := a.Cursors.Open("search", context, q.cursor, &from); err != nil {
			return nil, err
		}
	}
	completeness, err := a.complete(r, who, q, searchable(views), true)
	if err != nil {
		return nil, err
	}
	rows, err := a.Store.Search(r.Context(), store.SearchQuery{In: parts, Text: q.text, BeforeID: from.ID, Limit: q.limit +
		1, MaxBytes: pageBytes})
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	read, err := through(views, rows)
	if err != nil {
		return nil, err
	}
	next := ""
	all, more := (&page{limit: q.limit, found: read}).cut()
	if more {
		next = a.Cursors.Seal("search", context, before{all[len(all)-1].record.ID})
	}
	records, err := a.shownAs(r, all, nil)
	if err != nil {
		return nil, err
	}
	if err := a.countRead(r, who, views, all, nil); err != nil {
		return nil, err
	}
	return grantview.NewRecordPage(records, next, completeness), nil
}

// searchBy returns the handler of a search by meaning, or by words and meaning. It has one page: the best records.
func (a *api) searchBy(by string) handler {
	return func(r *http.Request, who grants.Access) (any, error) {
		q, err := parseQuery(r, "q", "stream", "connection_id", "limit")
		if err != nil {
			return nil, err
		}
		if q.text == "" || len(q.text) > embedding.MaxText {
			return nil, invalidRequest("q", "The text to search for is missing, or too long.", "Write q=words.")
		}
		if err := onceOnly(who); err != nil {
			return nil, err
		}
		views, parts, err := a.compared(r, who, q)
		if err != nil {
			return nil, err
		}
		completeness, err := a.complete(r, who, q, views, true)
		if err != nil {
			return nil, err
		}
		search := embedding.MeaningQuery{Text: q.text, By: by, Meaning: parts, Limit: q.limit, MaxBytes: pageBytes}
		if by == embedding.ByBoth {
			worded, words, err := a.searched(r, who, q)
			if refused := (grants.Refusal{}); err != nil && !errors.As(err, &refused) {
				return nil, err
			} else if err != nil {
				words = []store.AccessFilter{} // no stream may be searched by its words
			}
			views, search.Words = slices.Concat(views, worded), words
		}
		if a.Meaning == nil {
			return nil, grants.Refusal{UserError: embedding.ErrOff}
		}
		rows, err := a.Meaning.Search(r.Context(), search)
		if known := (*grants.UserError)(nil); errors.As(err, &known) {
			return nil, grants.Refusal{UserError: known}
		}
		if err != nil {
			return nil, fmt.Errorf("search: %w", err)
		}
		all, err := through(views, rows)
		if err != nil {
			return nil, err
		}
		records, err := a.shownAs(r, all, nil)
		if err != nil {
			return nil, err
		}
		if err := a.countRead(r, who, views, all, nil); err != nil {
			return nil, err
		}
		return grantview.NewRecordPage(records, "", completeness), nil
	}
}

// compared returns the views with fields that a search by meaning compares, and their limits with only those fields.
// The order of the records that it finds then depends on nothing else.
func (a *api) compared(r *http.Request, who grants.Access, q query) ([]grants.StreamView, []store.AccessFilter, error) {
	views, err := a.Grants.Views(r.Context(), who, q.stream, q.connection)
	if err != nil {
		return nil, nil, err
	}
	views = slices.DeleteFunc(views, func(v grants.StreamView) bool { return len(v.Embedded()) == 0 })
	if len(views) == 0 {
		return nil, nil, grants.Refused(grants.CodeInsufficientScope, "",
			"No field that may be read here is searched by meaning.", "Read the records instead.")
	}
	parts := make([]store.AccessFilter, len(views))
	for i, v := range views {
		parts[i] = v.Part(nil)
	}
	return views, parts, nil
}

// searched returns the views that may be searched, and their limits for the store. For a client the limits are never
// nil, which would mean everything.
func (a *api) searched(r *http.Request, who grants.Access, q query) ([]grants.StreamView, []store.AccessFilter, error) {
	views, err := a.Grants.Views(r.Context(), who, q.stream, q.connection)
	if err != nil {
		return nil, nil, err
	}
	owner := who.Grant() == nil
	if owner && q.stream == "" {
		if q.connection == "" {
			return views, nil, nil
		}
		return views, []store.AccessFilter{{ConnectionID: q.connection}}, nil
	}
	views = searchable(views)
	parts := make([]store.AccessFilter, len(views))
	for i, v := range views {
		parts[i] = v.Part(nil)
	}
	switch {
	case len(parts) > 0:
		return views, parts, nil
	case owner:
		return nil, nil, invalidRequest("stream", "The stream is not indexed for searching.", "Read its records instead.")
	}
	return nil, nil, grants.Refused(grants.CodeInsufficientScope, "",
		"The grant does not cover everything that a search would look at.", "Read the records instead.")
}

// searchable are the views that a search looks at.
func searchable(views []grants.StreamView) []grants.StreamView {
	return slices.DeleteFunc(slices.Clone(views), func(v grants.StreamView) bool { return !v.Searchable() })
}

// through finds the view of every row. A row without one is a fault of ours, and is
// never shown.
func through(views []grants.StreamView, rows []store.StoredRecord) ([]foundRecord, error) {
	by := make(map[[2]string]*grants.StreamView, len(views))
	for i := range views {
		by[[2]string{views[i].ConnectionID(), views[i].Name()}] = &views[i]
	}
	all := make([]foundRecord, len(rows))
	for i, row := range rows {
		v := by[[2]string{row.ConnectionID, row.Stream}]
		if v == nil {
			return nil, fmt.Errorf("search: found a record outside of what was searched")
		}
		all[i] = foundRecord{v, row}
	}
	return all, nil
}
