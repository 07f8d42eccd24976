package sqlstore

import (
	"context"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/recordfields"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/sqldialect"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// maxScannedRecords bounds the records that are read without an index.
const maxScannedRecords = 2000

func (db *DB) Related(ctx context.Context, q store.RelatedQuery) (out store.Related, err error) {
	out.By = map[string][]store.StoredRecord{}
	q.Values = onlyStorable(q.Values)
	if len(q.Values) == 0 || !isStorable(q.ConnectionID, q.Stream, q.Since, q.Until, q.Field) ||
		!isStorableField(q.AllowedValues) {
		return out, nil
	}
	err = db.readSnapshot(ctx, func(from sqldialect.Querier) error {
		s, err := db.indexedStreamOf(ctx, from, q.AccessFilter)
		if err != nil {
			return err
		}
		if by := db.pathByKey(s, textKey(q.Field)); s.has(by.key) {
			return db.relatedByIndex(ctx, from, q, by, &out)
		}
		return db.relatedByWalk(ctx, from, q, &out)
	})
	return out, err
}

// relatedByIndex reads a page for each value, with one statement for all.
func (db *DB) relatedByIndex(
	ctx context.Context, from sqldialect.Querier, q store.RelatedQuery, by readPath, out *store.Related,
) error {
	var pages []string
	var args []any
	for _, value := range q.Values {
		p, err := newRecordPage(db.dialect, relatedPage(q, []store.FieldValue{{Field: q.Field, Value: value}}), false, by)
		if err != nil {
			return err
		}
		text, own := p.statement(0, q.Each+1)
		pages, args = append(pages, `SELECT * FROM (`+text+`) AS p`), append(args, own...)
	}
	taken := &relatedCollector{RelatedQuery: q, out: out}
	return eachRow(ctx, db, from, strings.Join(pages, ` UNION ALL `), args, func(r scanner) (bool, error) {
		record, err := scanOwnColumns(r, q.AccessFilter)
		return taken.add(record), err
	})
}

// relatedByWalk scans the stream once. If one value has very many records, the others may be incomplete.
func (db *DB) relatedByWalk(
	ctx context.Context, from sqldialect.Querier, q store.RelatedQuery, out *store.Related,
) error {
	p, err := newRecordPage(db.dialect, relatedPage(q, nil), false, readPath{})
	if err != nil {
		return err
	}
	list, err := db.dialect.ListArgument(q.Values)
	if err != nil {
		return err
	}
	p.addCondition(opaqueCondition(`record_among(r.data, ?, `+db.dialect.ListPlaceholder()+`)`), q.Field, list)
	text, args := p.statement(0, maxScannedRecords)
	taken, rows := &relatedCollector{RelatedQuery: q, out: out}, 0
	err = eachRow(ctx, db, from, text, args, func(r scanner) (bool, error) {
		rows++
		record, err := scanOwnColumns(r, q.AccessFilter)
		return taken.add(record), err
	})
	out.Cut = out.Cut || rows == maxScannedRecords
	return err
}

// relatedPage returns the query for the records, including the field that groups them.
func relatedPage(q store.RelatedQuery, where []store.FieldValue) store.RecordQuery {
	q.AccessFilter.Fields = fieldsToRead(q.Fields, []store.FieldValue{{Field: q.Field}})
	return store.RecordQuery{AccessFilter: q.AccessFilter, Where: where}
}

// relatedCollector groups records by their value.
type relatedCollector struct {
	store.RelatedQuery
	out   *store.Related
	bytes int
}

// add stores a record and reports whether more fit.
func (t *relatedCollector) add(r store.StoredRecord) bool {
	value, found := "", false
	recordfields.EachField(r.Data, func(name string) bool { return name == t.Field },
		func(_ string, kind jsontext.Kind, text string) {
			value, found = text, kind == '"' || kind == '0'
		})
	if !found || !slices.Contains(t.Values, value) || len(t.out.By[value]) > t.Each {
		return true
	}
	pickRecordFields(&r, t.Fields)
	t.out.By[value] = append(t.out.By[value], r)
	if t.bytes += len(r.Data); t.MaxBytes > 0 && t.bytes >= t.MaxBytes {
		t.out.Cut = true
		return false
	}
	return true
}
