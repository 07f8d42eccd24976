package sqlstore

import (
	"context"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/keep/store"
)

// mostWalked bounds the records that are read where no index gives those of each value.
const mostWalked = 2000

func (db *DB) Related(ctx context.Context, q store.RelatedQuery) (out store.Related, err error) {
	out.By = map[string][]store.StoredRecord{}
	q.Values = storableOnly(q.Values)
	if len(q.Values) == 0 || !storable(q.ConnectionID, q.Stream, q.Since, q.Until, q.Field) || !storableField(q.Among) {
		return out, nil
	}
	err = db.snapshot(ctx, func(from Querier) error {
		s, err := db.indexed(ctx, from, q.Part)
		if err != nil {
			return err
		}
		if by := db.pathBy(s, textKey(q.Field)); s.has(by.key) {
			return db.relatedByIndex(ctx, from, q, by, &out)
		}
		return db.relatedByWalk(ctx, from, q, &out)
	})
	return out, err
}

// relatedByIndex reads a page for each value, all of them by one statement.
func (db *DB) relatedByIndex(ctx context.Context, from Querier, q store.RelatedQuery, by path, out *store.Related) error {
	var pages []string
	var args []any
	for _, value := range q.Values {
		p, err := pageOf(db.dialect, relatedPage(q, []store.FieldValue{{Field: q.Field, Value: value}}), false, by)
		if err != nil {
			return err
		}
		text, own := p.statement(0, q.Each+1)
		pages, args = append(pages, `SELECT * FROM (`+text+`) AS p`), append(args, own...)
	}
	taken := &related{RelatedQuery: q, out: out}
	return eachRow(ctx, db, from, strings.Join(pages, ` UNION ALL `), args, func(r scanner) (bool, error) {
		record, err := scanOwn(r, q.Part)
		return taken.add(record), err
	})
}

// relatedByWalk goes through the stream once. Where one value has very many records the
// others may be cut.
func (db *DB) relatedByWalk(ctx context.Context, from Querier, q store.RelatedQuery, out *store.Related) error {
	p, err := pageOf(db.dialect, relatedPage(q, nil), false, path{})
	if err != nil {
		return err
	}
	list, err := db.dialect.List(q.Values)
	if err != nil {
		return err
	}
	p.add(opaque(`record_among(r.data, ?, `+db.dialect.Texts()+`)`), q.Field, list)
	text, args := p.statement(0, mostWalked)
	taken, rows := &related{RelatedQuery: q, out: out}, 0
	err = eachRow(ctx, db, from, text, args, func(r scanner) (bool, error) {
		rows++
		record, err := scanOwn(r, q.Part)
		return taken.add(record), err
	})
	out.Cut = out.Cut || rows == mostWalked
	return err
}

// relatedPage is the query for a page of the part, with the field that records are told apart by.
func relatedPage(q store.RelatedQuery, where []store.FieldValue) store.RecordQuery {
	q.Part.Fields = readFields(q.Fields, []store.FieldValue{{Field: q.Field}})
	return store.RecordQuery{Part: q.Part, Where: where}
}

// related gathers records by their value.
type related struct {
	store.RelatedQuery
	out   *store.Related
	bytes int
}

// add takes a record, and says whether there is room for more.
func (t *related) add(r store.StoredRecord) bool {
	value, found := "", false
	EachField(r.Data, func(name string) bool { return name == t.Field }, func(_ string, kind jsontext.Kind, text string) {
		value, found = text, kind == '"' || kind == '0'
	})
	if !found || !slices.Contains(t.Values, value) || len(t.out.By[value]) > t.Each {
		return true
	}
	pick(&r, t.Fields)
	t.out.By[value] = append(t.out.By[value], r)
	if t.bytes += len(r.Data); t.MaxBytes > 0 && t.bytes >= t.MaxBytes {
		t.out.Cut = true
		return false
	}
	return true
}
