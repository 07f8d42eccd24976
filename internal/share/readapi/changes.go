package readapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/share/readapi/grantview"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// maxFeeds bounds how many connections one feed of changes can follow: their places
// all go into its cursor.
const maxFeeds = 100

// place is how far a feed was read: After is where the page before ended, and Known where
// the reader last had everything, so that it knows what left until then. Purged is the
// newest change that had been removed for good when the reader began.
type place struct{ After, Known, Purged int64 }

func (p place) MarshalJSON() ([]byte, error) {
	return json.Marshal([3]int64{p.After, p.Known, p.Purged})
}

// UnmarshalJSON takes the one or two numbers of an earlier cursor, too.
func (p *place) UnmarshalJSON(body []byte) error {
	if err := json.Unmarshal(body, &p.After); err == nil {
		p.Known = p.After
		return nil
	}
	var all [3]int64 // fewer leave the rest zero
	err := json.Unmarshal(body, &all)
	p.After, p.Known, p.Purged = all[0], all[1], all[2]
	return err
}

// purged returns the newest change of a view's stream that was removed for good. A reader that had not read as far
// when that happened cannot learn what is gone: it begins again.
func (a *api) purged(r *http.Request, v *grants.StreamView, at place) (int64, error) {
	streams, err := a.Store.Streams(r.Context(), v.ConnectionID())
	if err != nil {
		return 0, fmt.Errorf("look for removed changes: %w", err)
	}
	for _, s := range streams {
		if s.Name != v.Name() {
			continue
		}
		if at.After > 0 && at.After < s.PurgedSeq && at.Purged < s.PurgedSeq {
			return 0, grants.Refused(grants.CodeInvalidCursor, "changes_since",
				"Records were deleted for good since this cursor was given.",
				"Begin again without a cursor, and drop the records that you then do not get.")
		}
		return s.PurgedSeq, nil
	}
	return at.Purged, nil
}

// changes returns what changed since a cursor, including deletions. The next cursor holds a position in every
// connection, also in those without changes.
func (a *api) changes(
	r *http.Request,
	who grants.Access,
	q query,
	stream string,
	views []grants.StreamView,
) (any, error) {
	if err := onceOnly(who); err != nil {
		return nil, err
	}
	if len(views) > maxFeeds {
		return nil, invalidRequest("connection_id", "Too many connections have this stream to follow them at once.",
			"Name one with connection_id.")
	}
	context := q.context(who, stream)
	places := map[string]place{} // by connection
	if q.since != "" {
		if err := a.Cursors.Open("changes", context, q.since, &places); err != nil {
			return nil, err
		}
	}
	completeness, err := a.complete(r, who, q, views, false)
	if err != nil {
		return nil, err
	}
	var knownAt time.Time // deletions before the grant are hidden from it
	if g := who.Grant(); g != nil {
		knownAt = g.CreatedAt
	}
	p := &page{limit: q.limit}
	for i := range views {
		v := &views[i]
		at := places[v.ConnectionID()]
		purged, err := a.purged(r, v, at)
		if err != nil {
			return nil, err
		}
		at.Purged = purged
		places[v.ConnectionID()] = at
		rows, err := a.Store.Changes(r.Context(), store.RecordQuery{
			AccessFilter: v.Part(q.fields), AfterSeq: places[v.ConnectionID()].After, Limit: p.rows(), MaxBytes: p.bytes(),
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
			ConnectionID: f.record.ConnectionID, Stream: f.record.Stream, ID: f.record.Key, Deleted: f.record.Deleted,
			Data: data, EmittedAt: at,
		}
		id := f.view.ConnectionID()
		places[id] = place{After: f.record.Seq, Known: places[id].Known, Purged: places[id].Purged}
	}
	for id, at := range places {
		if !more {
			places[id] = place{After: at.After, Known: at.After, Purged: at.Purged}
		}
	}
	if err := a.countRead(r, who, views, all, nil); err != nil {
		return nil, err
	}
	return grantview.NewChangePage(out, a.Cursors.Seal("changes", context, places), more, completeness), nil
}
