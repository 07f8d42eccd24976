package readapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"pdpp/internal/keep/store"
	"pdpp/internal/share/grants"
	"pdpp/internal/share/readapi/grantview"
)

// maxFeeds bounds how many connections one feed of changes can follow: their places
// all go into its cursor.
const maxFeeds = 100

// place is how far a feed was read: After is where the page before ended, and Known where
// the reader last had everything, so that it knows what left until then.
type place struct{ After, Known int64 }

func (p place) MarshalJSON() ([]byte, error) { return json.Marshal([2]int64{p.After, p.Known}) }

// UnmarshalJSON takes the one number of an earlier cursor, too.
func (p *place) UnmarshalJSON(body []byte) error {
	if err := json.Unmarshal(body, &p.After); err == nil {
		p.Known = p.After
		return nil
	}
	var both [2]int64
	err := json.Unmarshal(body, &both)
	p.After, p.Known = both[0], both[1]
	return err
}

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
	places := map[string]place{} // by connection
	if q.since != "" {
		if err := a.Cursors.Open("changes", context, q.since, &places); err != nil {
			return nil, err
		}
	}
	told, err := a.complete(r, who, q, views, false)
	if err != nil {
		return nil, err
	}
	var knownAt time.Time // what left before the grant was given is none of its business
	if g := who.Grant(); g != nil {
		knownAt = g.CreatedAt
	}
	p := &page{limit: q.limit}
	for i := range views {
		v := &views[i]
		rows, err := a.Store.Changes(r.Context(), store.RecordQuery{
			Part: v.Part(q.fields), AfterSeq: places[v.ConnectionID()].After, Limit: p.rows(), MaxBytes: p.bytes(),
			Known: places[v.ConnectionID()].Known, KnownAt: knownAt,
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
		id := f.view.ConnectionID()
		places[id] = place{After: f.record.Seq, Known: places[id].Known}
	}
	for id, at := range places {
		if !more {
			places[id] = place{After: at.After, Known: at.After}
		}
	}
	if err := a.used(r, who, views, all, nil); err != nil {
		return nil, err
	}
	return grantview.NewChangePage(out, a.Cursors.Seal("changes", context, places), more, told), nil
}
