package readapi

import (
	"fmt"
	"net/http"

	"pdpp/internal/keep/store"
	"pdpp/internal/share/grants"
	"pdpp/internal/share/readapi/grantview"
)

// maxFeeds bounds how many connections one feed of changes can follow: their places
// all go into its cursor.
const maxFeeds = 100

// changes gives what changed since a cursor, deletions too. The next cursor holds a
// place in every connection, also in those where nothing changed.
func (a *api) changes(r *http.Request, who grants.Access, q query, stream string, views []grants.View) (any, error) {
	if err := onceOnly(who); err != nil {
		return nil, err
	}
	if len(views) > maxFeeds {
		return nil, bad("connection_id", "Too many connections have this stream to follow them at once.", "Name one with connection_id.")
	}
	context := q.context(who, stream)
	after := map[string]int64{}
	if q.since != "" {
		if err := a.Cursors.Open("changes", context, q.since, &after); err != nil {
			return nil, err
		}
	}
	p := &page{limit: q.limit}
	for i := range views {
		v := &views[i]
		rows, err := a.Store.Changes(r.Context(), store.RecordQuery{
			Part: v.Part(q.fields), AfterSeq: after[v.ConnectionID()], Limit: p.rows(), MaxBytes: p.bytes(),
		})
		if err != nil {
			return nil, fmt.Errorf("list changes: %w", err)
		}
		if !p.add(v, rows) {
			break
		}
	}
	all, more := p.cut()
	out := make([]grantview.Change, len(all))
	for i, f := range all {
		data, at, err := f.shown(q.fields)
		if err != nil {
			return nil, err
		}
		out[i] = grantview.Change{
			ConnectionID: f.record.ConnectionID, Stream: f.record.Stream, ID: f.record.Key, Deleted: f.record.Deleted, Data: data, EmittedAt: at,
		}
		after[f.view.ConnectionID()] = f.record.Seq
	}
	if err := a.used(r, who, views, all, nil); err != nil {
		return nil, err
	}
	return grantview.NewChangePage(out, a.Cursors.Seal("changes", context, after), more), nil
}
