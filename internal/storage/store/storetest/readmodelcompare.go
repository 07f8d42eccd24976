package storetest

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// drawRecordQuery filters by fields that records have, if by any.
func (m readStream) drawRecordQuery(t *rapid.T, connection string, feed []store.StoredRecord) store.RecordQuery {
	q := store.RecordQuery{
		AccessFilter: drawPart(t, connection), NewestFirst: rapid.Bool().Draw(t, "newest first"),
		Limit: rapid.IntRange(1, 3).Draw(t, "limit"),
	}
	if len(feed) == 0 {
		return q
	}
	if rapid.Bool().Draw(t, "by field") {
		v, _ := m.was(rapid.SampledFrom(feed).Draw(t, "like").Key)
		for _, member := range v.members {
			q.Where = append(q.Where, store.FieldValue{Field: member.field, Value: member.value})
		}
	}
	if rapid.Bool().Draw(t, "up to") {
		q.UpToSeq = rapid.SampledFrom(feed).Draw(t, "newest").Seq
	}
	return q
}

// compareList pages through a list and the change feed of the same query.
func (m readStream) compareList(t *testing.T, s store.Store, feed []store.StoredRecord, q store.RecordQuery) {
	t.Helper()
	var live, all []store.StoredRecord
	for _, r := range feed {
		if !m.holds(r.Key, q.Where) || q.UpToSeq > 0 && r.Seq > q.UpToSeq || q.Keys != nil &&
			!slices.Contains(q.Keys, r.Key) {
			continue
		}
		bounded := q.Since != "" || q.Until != "" || q.AllowedValues != nil
		switch {
		case m.now(r.Key).within(q.AccessFilter):
			live, all = append(live, r), append(all, r)
		case !bounded:
			all = append(all, r) // a tombstone
		case m.ever(r.Key, q.AccessFilter) && (r.Deleted || len(q.Where) == 0):
			all = append(all, store.StoredRecord{Key: r.Key, Seq: r.Seq, Deleted: true})
		}
	}
	if q.NewestFirst {
		slices.Reverse(live)
		slices.Reverse(all)
	}
	paged := func(next store.RecordQuery,
		read func(store.RecordQuery) ([]store.StoredRecord, error)) (got []store.StoredRecord) {
		t.Helper()
		for {
			page, err := read(next)
			ok(t, err)
			got = append(got, page...)
			if len(page) < next.Limit {
				return got
			}
			next.AfterSeq = page[len(page)-1].Seq
		}
	}
	same(t, paged(q, func(q store.RecordQuery) ([]store.StoredRecord, error) { return s.ListRecords(t.Context(), q) }),
		live)
	got := paged(q, func(q store.RecordQuery) ([]store.StoredRecord, error) { return s.Changes(t.Context(), q) })
	for i, r := range got {
		if r.Deleted && r.Version == 0 { // it departed, which another test covers
			got[i] = store.StoredRecord{Key: r.Key, Seq: r.Seq, Deleted: true}
		}
	}
	same(t, got, all)
}

// readSearch is a search and its words.
type readSearch struct {
	store.SearchQuery
	words []string
}

func drawSearchQuery(t *rapid.T, connection string) readSearch {
	q := readSearch{words: rapid.SliceOfN(rapid.SampledFrom(readWords), 1, 2).Draw(t, "words")}
	for _, w := range q.words {
		q.Text += w + ", "
	}
	q.Limit = rapid.IntRange(1, 3).Draw(t, "limit")
	q.In = []store.AccessFilter{}
	for range rapid.IntRange(0, 3).Draw(t, "parts") {
		p := drawPart(t, connection)
		if rapid.Bool().Draw(t, "whole connection") {
			p.Stream = ""
		}
		q.In = append(q.In, p)
	}
	return q
}

// compareSearch pages through the results of a search.
func (m readStream) compareSearch(t *testing.T, s store.Store, feed []store.StoredRecord, q readSearch) {
	t.Helper()
	var want []store.StoredRecord
	for _, r := range feed {
		v, _ := m.was(r.Key)
		missing := slices.ContainsFunc(q.words, func(w string) bool { return !slices.Contains(v.words, w) })
		if !r.Deleted && !missing &&
			slices.ContainsFunc(q.In, func(p store.AccessFilter) bool { return m.now(r.Key).within(p) }) {
			want = append(want, r)
		}
	}
	slices.SortFunc(want, func(a, b store.StoredRecord) int { return int(b.ID - a.ID) })
	var got []store.StoredRecord
	for next := q.SearchQuery; ; next.BeforeID = got[len(got)-1].ID {
		page, err := s.Search(t.Context(), next)
		ok(t, err)
		got = append(got, page...)
		if len(page) < next.Limit {
			break
		}
	}
	same(t, got, want)
}
