package readapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/share/readapi/grantview"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// Limits of the related records in one answer.
const (
	maxExpansions = 5
	maxExpanded   = 1000 // records
)

// expansion is a relation that is followed from the records of one connection.
type expansion struct {
	relation grants.Relation
	from     *grants.StreamView
	to       grants.StreamView
	limit    int
}

// expansions settles what the query asks for beside the records: for each view the relations
// that its connector declares, to streams that may be read too.
func (a *api) expansions(r *http.Request, who grants.Access, q query, views []grants.StreamView) (all []*expansion,
	err error) {
	if len(q.expand) == 0 {
		return nil, nil
	}
	if err := onceOnly(who); err != nil {
		return nil, err
	}
	for i := range views {
		v := &views[i]
		relations := v.Relations()
		for _, name := range q.expand {
			n := slices.IndexFunc(relations, func(r grants.Relation) bool { return r.Name == name })
			if n < 0 {
				return nil, invalidRequest("expand", "The stream has no such relationship to expand.",
					"Use the names under expandable of GET /v1/streams/{stream}.")
			}
			e := &expansion{relation: relations[n], from: v, limit: relations[n].Usual}
			if q.expandLimit > 0 {
				e.limit = min(q.expandLimit, e.relation.Most)
			}
			if e.to, err = a.other(r, who, *v, e.relation); err != nil {
				return nil, err
			}
			all = append(all, e)
		}
	}
	return all, nil
}

// other is the view of the stream at the other end of a relation.
func (a *api) other(
	r *http.Request,
	who grants.Access,
	v grants.StreamView,
	relation grants.Relation,
) (grants.StreamView, error) {
	views, err := a.Grants.Views(r.Context(), who, relation.Stream, v.ConnectionID())
	if err != nil {
		return grants.StreamView{}, err
	}
	if !v.Follows(relation, views[0]) {
		return grants.StreamView{}, grants.Refused(grants.CodeInsufficientScope, "expand",
			"The grant does not cover the field of a relationship.",
			"Use the names under expandable of GET /v1/streams/{stream}.")
	}
	return views[0], nil
}

// reading are the fields that records are read with: those that are wanted, and those that
// relations are followed by.
func (q *query) reading(all []*expansion) []string {
	if len(q.fields) == 0 {
		return nil
	}
	fields := slices.Clone(q.fields)
	for _, e := range all {
		if !e.relation.Other && !slices.Contains(fields, e.relation.Field) {
			fields = append(fields, e.relation.Field)
		}
	}
	return fields
}

// expand reads the related records of an answer, one relation of a connection at a time, and counts them as read.
func (a *api) expand(r *http.Request, who grants.Access, all []*expansion, records []foundRecord,
	out []grantview.Record) error {
	room := &expansionBudget{records: maxExpanded, bytes: pageBytes}
	for _, e := range all {
		keys, of := e.keys(records)
		related, err := a.related(r, e, keys)
		if err != nil {
			return fmt.Errorf("read related records: %w", err)
		}
		given := 0
		for i := range records {
			if records[i].view != e.from {
				continue
			}
			beside, err := e.relatedTo(related, of[i], room)
			if err != nil {
				return err
			}
			given += len(beside.Data)
			out[i].Expanded = append(out[i].Expanded, beside)
		}
		if err := a.Grants.Used(r.Context(), who, e.to, given, nil); err != nil {
			return err
		}
	}
	return nil
}

// keys are the values by which the other records are found: all of them, and that of each record.
func (e *expansion) keys(records []foundRecord) (all []string, of []string) {
	of = make([]string, len(records))
	for i, f := range records {
		if f.view != e.from {
			continue
		}
		if of[i] = f.record.Key; !e.relation.Other {
			of[i] = fieldText(f.record.Data, e.relation.Field)
		}
		if of[i] != "" && !slices.Contains(all, of[i]) {
			all = append(all, of[i])
		}
	}
	return all, of
}

// related reads the records at the other end, within the limits of their view.
func (a *api) related(r *http.Request, e *expansion, keys []string) (store.Related, error) {
	part := e.to.Part(nil)
	if e.relation.Other {
		return a.Store.Related(r.Context(), store.RelatedQuery{AccessFilter: part, Field: e.relation.Field, Values: keys,
			Each: e.limit, MaxBytes: pageBytes})
	}
	if part.Keys != nil {
		keys = slices.DeleteFunc(keys, func(k string) bool { return !slices.Contains(part.Keys, k) })
	}
	out := store.Related{By: map[string][]store.StoredRecord{}}
	if len(keys) == 0 {
		return out, nil
	}
	part.Keys = keys
	rows, err := a.Store.ListRecords(r.Context(),
		store.RecordQuery{AccessFilter: part, Limit: len(keys), MaxBytes: pageBytes})
	size := 0
	for _, row := range rows {
		out.By[row.Key] = []store.StoredRecord{row}
		size += len(row.Data)
	}
	out.Cut = size >= pageBytes
	return out, err
}

// expansionBudget is how much of an answer is left for related records.
type expansionBudget struct{ records, bytes int }

// relatedTo returns the related records of one record.
func (e *expansion) relatedTo(related store.Related, key string, left *expansionBudget) (grantview.Expansion, error) {
	out := grantview.Expansion{Name: e.relation.Name, Data: []grantview.Related{}}
	rows := related.By[key]
	for i, row := range rows {
		if i == e.limit || left.records == 0 || left.bytes <= 0 {
			out.HasMore = true
			break
		}
		f := foundRecord{&e.to, row}
		data, at, err := f.shown(nil)
		if err != nil {
			return out, err
		}
		left.records, left.bytes = left.records-1, left.bytes-len(row.Data)
		out.Data = append(out.Data, grantview.Related{ConnectionID: row.ConnectionID, Stream: row.Stream, ID: row.Key,
			Data: data, EmittedAt: at})
	}
	out.HasMore = out.HasMore || key != "" && related.Cut && len(out.Data) < e.limit
	return out, nil
}

// fieldText is the text or the number in a field, as it is written; empty when there is neither.
func fieldText(data []byte, field string) string {
	var members map[string]json.RawMessage
	if json.Unmarshal(data, &members) != nil {
		return ""
	}
	value := bytes.TrimSpace(members[field])
	var text string
	switch {
	case len(value) == 0:
		return ""
	case value[0] == '"' && json.Unmarshal(value, &text) == nil:
		return text
	case value[0] == '-' || value[0] >= '0' && value[0] <= '9':
		return string(value)
	}
	return ""
}

// expandable are the relations of a view that the reader can follow to another of its views.
func expandable(v grants.StreamView, all []grants.StreamView) (out []grantview.Expandable) {
	for _, r := range v.Relations() {
		i := slices.IndexFunc(all, func(o grants.StreamView) bool {
			return o.ConnectionID() == v.ConnectionID() &&
				o.Name() == r.Stream
		})
		if i < 0 || !v.Follows(r, all[i]) {
			continue
		}
		out = append(out, grantview.Expandable{Name: r.Name, Stream: r.Stream, Many: r.Many, DefaultLimit: r.Usual,
			MaxLimit: r.Most})
	}
	return out
}
