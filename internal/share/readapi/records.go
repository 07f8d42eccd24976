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

// position is where a page ended.
type position struct {
	Connection string `json:"c"`
	After      int64  `json:"a"`
	UpTo       int64  `json:"u,omitempty"` // of a reading that ends where it was begun
}

// foundRecord is a record together with the view that it was found through.
type foundRecord struct {
	view   *grants.StreamView
	record store.StoredRecord
}

func (a *api) records(r *http.Request, who grants.Access) (any, error) {
	q, err := parseQuery(r, "connection_id", "limit", "cursor", "order", "fields", "filter", "changes_since", "expand",
		"expand_limit")
	if err != nil {
		return nil, err
	}
	stream := r.PathValue("stream")
	views, err := a.Grants.Views(r.Context(), who, stream, q.connection)
	if err != nil {
		return nil, err
	}
	if err := q.check(views); err != nil {
		return nil, err
	}
	if q.changes {
		return a.changes(r, who, q, stream, views)
	}
	beside, err := a.expansions(r, who, q, views)
	if err != nil {
		return nil, err
	}
	completeness, err := a.completeWith(r, who, q, views, beside)
	if err != nil {
		return nil, err
	}
	context := q.context(who, stream)
	from := position{Connection: views[0].ConnectionID()}
	if q.cursor != "" {
		if err := a.Cursors.Open("records", context, q.cursor, &from); err != nil {
			return nil, err
		}
	}
	if who.SingleUse() {
		if err := a.single(r, q, views, &from); err != nil {
			return nil, err
		}
	}
	p := &page{limit: q.limit}
	if !who.SingleUse() || from.UpTo > 0 {
		if err := a.page(r, q, views, beside, from, p); err != nil {
			return nil, err
		}
	}
	next := ""
	all, more := p.cut()
	if more {
		last := all[len(all)-1]
		next = a.Cursors.Seal("records", context, position{last.view.ConnectionID(), last.record.Seq, from.UpTo})
	}
	records, err := a.shownAs(r, all, q.fields)
	if err != nil {
		return nil, err
	}
	var turn *grants.Turn
	if who.SingleUse() {
		turn = &grants.Turn{After: q.cursor, Next: next}
	}
	if err := a.countRead(r, who, views, all, turn); err != nil {
		return nil, err
	}
	if err := a.expand(r, who, beside, all, records); err != nil {
		return nil, err
	}
	return grantview.NewRecordPage(records, next, completeness), nil
}

// context is everything that makes a list this one.
func (q *query) context(who grants.Access, stream string) string {
	parts := []string{who.ID(), stream, q.connection, fmt.Sprint(q.newest)}
	for _, w := range q.where {
		parts = append(parts, w.Field, w.Value)
	}
	for _, c := range q.compare {
		parts = append(parts, c.Field, string(c.Op), c.Value)
	}
	return grants.Context(parts...)
}

// page reads one more record than was asked for, from one connection after the other.
func (a *api) page(
	r *http.Request,
	q query,
	views []grants.StreamView,
	beside []*expansion,
	from position,
	p *page,
) error {
	begun := false
	for i := range views {
		v := &views[i]
		compare, err := q.comparisons(*v)
		if err != nil {
			return err
		}
		rq := store.RecordQuery{AccessFilter: v.Part(q.reading(beside)), Where: q.where, Compare: compare,
			NewestFirst: q.newest,
			UpToSeq:     from.UpTo, Limit: p.rows(), MaxBytes: p.bytes()}
		if !begun {
			if v.ConnectionID() != from.Connection {
				continue
			}
			begun, rq.AfterSeq = true, from.After
		}
		rows, err := a.Store.ListRecords(r.Context(), rq)
		if err != nil {
			return fmt.Errorf("list records: %w", err)
		}
		if !p.add(v, rows) {
			break
		}
	}
	if !begun {
		return grants.Refused(grants.CodeInvalidCursor, "cursor", "The cursor is in a connection that is not there.",
			"Begin again without a cursor.")
	}
	return nil
}

// shownAs makes the records of an answer, with the fields that may be read.
func (a *api) shownAs(r *http.Request, all []foundRecord, fields []string) ([]grantview.Record, error) {
	out := make([]grantview.Record, len(all))
	for i, f := range all {
		data, at, err := f.shown(fields)
		if err != nil {
			return nil, err
		}
		out[i] = grantview.Record{ConnectionID: f.record.ConnectionID, Stream: f.record.Stream, ID: f.record.Key, Data: data,
			EmittedAt: at}
	}
	return out, a.giveBlobs(r, all, fields, out)
}

func (f foundRecord) shown(fields []string) (json.RawMessage, time.Time, error) {
	data, err := f.view.Project(f.record.Data, fields)
	if err != nil {
		return nil, time.Time{}, err
	}
	at, err := time.Parse(time.RFC3339, f.record.EmittedAt)
	if err != nil {
		at = f.record.ChangedAt
	}
	return data, at.UTC(), nil
}

// countRead counts what is about to be returned, by view. A read without results counts for the first view.
func (a *api) countRead(r *http.Request, who grants.Access, views []grants.StreamView, all []foundRecord,
	turn *grants.Turn) error {
	if who.Grant() == nil {
		return nil
	}
	counts := map[*grants.StreamView]int{}
	for _, f := range all {
		counts[f.view]++
	}
	for i := range views {
		n := counts[&views[i]]
		if n == 0 && (i > 0 || len(all) > 0) {
			continue
		}
		if err := a.Grants.Used(r.Context(), who, views[i], n, turn); err != nil {
			return err
		}
	}
	return nil
}
