package readapi

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/share/readapi/grantview"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// record returns one record. It is read as a page of one key under the same limits as any page.
func (a *api) record(r *http.Request, who grants.Access) (any, error) {
	q, err := parseQuery(r, "connection_id", "fields", "expand", "expand_limit")
	if err != nil {
		return nil, err
	}
	if err := onceOnly(who); err != nil {
		return nil, err
	}
	views, err := a.Grants.Views(r.Context(), who, r.PathValue("stream"), q.connection)
	if err != nil {
		return nil, err
	}
	if err := q.check(views); err != nil {
		return nil, err
	}
	beside, err := a.expansions(r, who, q, views)
	if err != nil {
		return nil, err
	}
	completeness, err := a.completeWith(r, who, q, views, beside)
	if err != nil {
		return nil, err
	}
	all, err := a.byKey(r, views, q.reading(beside), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	switch len(all) {
	case 0:
		return nil, grants.Refused(grants.CodeNotFound, "", "There is no such record.", "Use an id of the stream's records.")
	case 1:
	default:
		return nil, invalidRequest("connection_id", "Several connections have a record with this id.",
			"Name one with connection_id.")
	}
	records, err := a.shownAs(r, all, q.fields)
	if err != nil {
		return nil, err
	}
	if err := a.countRead(r, who, views, all, nil); err != nil {
		return nil, err
	}
	beside = slices.DeleteFunc(beside, func(e *expansion) bool { return e.from != all[0].view })
	if err := a.expand(r, who, beside, all, records); err != nil {
		return nil, err
	}
	completeness = slices.DeleteFunc(completeness,
		func(c grantview.Completeness) bool { return c.ConnectionID != records[0].ConnectionID })
	return grantview.NewRecordAnswer(records[0], completeness), nil
}

func (a *api) byKey(r *http.Request, views []grants.StreamView, fields []string, key string) ([]foundRecord, error) {
	var all []foundRecord
	for i := range views {
		part := views[i].Part(fields)
		if part.Keys != nil && !slices.Contains(part.Keys, key) {
			continue
		}
		part.Keys = []string{key}
		rows, err := a.Store.ListRecords(r.Context(), store.RecordQuery{AccessFilter: part, Limit: 1})
		if err != nil {
			return nil, fmt.Errorf("find record: %w", err)
		}
		for _, row := range rows {
			all = append(all, foundRecord{&views[i], row})
		}
	}
	return all, nil
}
