package sqlstore

import (
	"context"
	"database/sql"
	"math"
	"slices"
	"strconv"

	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/recordfields"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/sqldialect"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/pagelimit"
)

// recordPage is a page of one stream under construction.
type recordPage struct {
	store.RecordQuery
	sqlFilter
	columns    string
	columnArgs []any
	tables     string
	by         readPath
	seq        string // the sort expression; only the bare column uses its index
	had        bool   // a column has the last version of a tombstone
	departures bool   // the last column is when a record stopped matching
}

// joinLastVersion joins the last version of a tombstone.
const joinLastVersion = ` LEFT JOIN record_history o ON r.data IS NULL AND o.record_id = r.id
	AND o.version = r.version - 1 `

func (db *DB) readRecords(
	ctx context.Context, q store.RecordQuery, tombstones bool,
) (found []store.StoredRecord, err error) {
	if !isStorable(q.ConnectionID, q.Stream, q.Since, q.Until) || !isStorableField(q.AllowedValues) ||
		!arePossible(q.Where) {
		return nil, nil
	}
	q.Limit = limitOrDefault(q.Limit, 100)
	err = db.retryWithoutCache(ctx, func() error {
		by, err := db.recordPath(ctx, q, tombstones)
		if err != nil {
			return err
		}
		p, err := newRecordPage(db.dialect, q, tombstones, by)
		if err != nil {
			return err
		}
		found, err = db.readPage(ctx, p, by)
		return err
	})
	return found, err
}

// recordPath chooses the index of a page.
func (db *DB) recordPath(ctx context.Context, q store.RecordQuery, tombstones bool) (readPath, error) {
	if tombstones || q.Keys != nil || len(q.Where)+len(q.Compare) == 0 {
		return readPath{}, nil
	}
	s, err := db.cachedIndexes(ctx, q.AccessFilter)
	if err != nil {
		return readPath{}, err
	}
	by, err := db.choosePath(ctx, db.readers(ctx), s, q.Where, q.Compare, pageReadLimit(s, q.Limit))
	// A range is found in the index first; then only the records of the page are read.
	by.alone = by.ranged && q.Since == "" && q.Until == "" && q.AllowedValues == nil && len(q.Where) == 0 &&
		!slices.ContainsFunc(q.Compare, func(c store.Comparison) bool { return fieldKeyOf(c.Field, c.Kind) != by.key })
	return by, err
}

// readPage reads a page from one snapshot: with one statement, or in a transaction when it needs several or its own
// settings.
func (db *DB) readPage(ctx context.Context, p *recordPage, by readPath) (found []store.StoredRecord, err error) {
	var bound string
	if by.single {
		bound = db.dialect.StatementTimeout(0, true)
	}
	if bound == "" && (p.MaxBytes == 0 || p.Limit <= pagelimit.FirstRows) {
		found, whole, err := db.fillRecordPage(ctx, db.readers(ctx), p, 1)
		if err != nil || whole {
			return found, err
		}
	}
	err = db.readSnapshot(ctx, func(from sqldialect.Querier) error {
		if err := db.setOption(ctx, from, bound); err != nil {
			return err
		}
		found, _, err = db.fillRecordPage(ctx, from, p, math.MaxInt)
		return err
	})
	return found, err
}

// setOption runs a setting of the dialect until the transaction ends, unless it is empty.
func (db *DB) setOption(ctx context.Context, from sqldialect.Querier, statement string) error {
	if statement == "" {
		return nil
	}
	var set string
	return db.dialect.ClassifyError(from.QueryRowContext(ctx, statement).Scan(&set))
}

// readSnapshot runs several reads in one snapshot.
func (db *DB) readSnapshot(ctx context.Context, read func(sqldialect.Querier) error) error {
	tx, err := db.readers(ctx).BeginTx(ctx, &sql.TxOptions{ReadOnly: true, Isolation: db.dialect.SnapshotLevel()})
	if err != nil {
		return db.dialect.ClassifyError(err)
	}
	defer tx.Rollback()
	return read(tx)
}

// newRecordPage builds the parts of the statement.
func newRecordPage(d sqldialect.Dialect, q store.RecordQuery, tombstones bool, by readPath) (*recordPage, error) {
	p := &recordPage{RecordQuery: q, tables: by.fromClause() + recordRun, by: by, seq: by.seqColumn()}
	data, had := "r.data", "NULL"
	if !tombstones {
		by.addLiveConditions(&p.sqlFilter, q.AccessFilter)
	} else {
		by.addStreamConditions(&p.sqlFilter, q.AccessFilter)
	}
	if tombstones && len(q.Where)+len(q.Compare) > 0 {
		p.tables += joinLastVersion
		data, had = "coalesce(r.data, o.data)", "o.data"
	}
	within, err := versionBoundsOf(d, q.AccessFilter, "r")
	if err != nil {
		return nil, err
	}
	p.departures = tombstones && within.text != ""
	if err := p.chooseColumns(d, had, within); err != nil {
		return nil, err
	}
	if p.departures {
		err = p.withDepartures(d, within)
	} else {
		p.addBounds(within)
	}
	if err != nil {
		return nil, err
	}
	if err := p.addKeys(d, q.AccessFilter); err != nil {
		return nil, err
	}
	if q.Keys != nil || by.ranged && by.table == "" {
		// The records are found by key or index and then sorted. The unary plus stops the planner from scanning the
		// whole stream in order, which would be slower.
		p.seq = "+r.seq"
	}
	if q.UpToSeq > 0 {
		p.addCondition(p.seq+" <= ?", q.UpToSeq)
	}
	for _, w := range q.Where {
		if !by.provesValue(w) {
			p.addFieldValues(data, []store.FieldValue{w})
		}
		if by.key == textKey(w.Field) {
			p.addFieldCompare(d, by, data, by.key, "=", store.TruncateText(w.Value))
		}
	}
	for _, c := range q.Compare {
		p.addComparison(d, by, data, c)
	}
	return p, nil
}

// addAccess adds the conditions of a filter on live records.
func (f *sqlFilter) addAccess(d sqldialect.Dialect, p store.AccessFilter) error {
	within, err := versionBoundsOf(d, p, "r")
	if err != nil {
		return err
	}
	f.addBounds(within)
	return f.addKeys(d, p)
}

// addBounds adds the limits of a filter, if there are any.
func (f *sqlFilter) addBounds(b versionBounds) {
	if b.text != "" {
		f.addCondition(opaqueCondition(b.text), b.args...)
	}
}

// addKeys adds the filter's conditions on the key, and that the semantic time follows the current declaration.
func (f *sqlFilter) addKeys(d sqldialect.Dialect, p store.AccessFilter) error {
	if p.Declared != nil && (p.Since != "" || p.Until != "") {
		f.addCondition(`r.seq <= (SELECT CASE WHEN time_field = ? THEN time_seq ELSE -1 END FROM streams
			WHERE connection_id = ? AND name = ?)`,
			p.Declared.TimeField, p.ConnectionID, p.Stream)
	}
	if p.Keys == nil {
		return nil
	}
	list, err := d.ListArgument(onlyStorable(p.Keys))
	f.addCondition(d.InKeyList("r.record_key"), list)
	return err
}

// chooseColumns selects the data's fields that the page returns or filters by, and those of a tombstone's last
// version that it filters by. For a record that stopped matching it selects only when that happened.
func (p *recordPage) chooseColumns(d sqldialect.Dialect, had string, within versionBounds) error {
	data, args, err := pickExpression(d, "r.data", fieldsToRead(p.Fields, p.Where))
	if err != nil {
		return err
	}
	if p.departures {
		data, args = `CASE WHEN `+within.text+` THEN `+data+` END`, append(slices.Clone(within.args), args...)
	}
	p.columns, p.columnArgs = ownColumnsOf(data), args
	if p.had = had != "NULL" && len(p.Where) > 0; p.had {
		if had, args, err = pickExpression(d, had, fieldsToRead([]string{}, p.Where)); err != nil {
			return err
		}
		p.columns += `, ` + had
		p.columnArgs = append(p.columnArgs, args...)
	}
	if !p.departures {
		return nil
	}
	leaving, args, err := departureQuery(d, p.AccessFilter)
	p.columns += `, CASE WHEN ` + within.text + ` THEN '' ELSE (SELECT coalesce(n.changed_at, r.changed_at)` + leaving +
		` ORDER BY v.version DESC LIMIT 1) END`
	p.columnArgs = append(append(p.columnArgs, within.args...), args...)
	return err
}

// pickExpression returns an expression for some fields of a record's data, with its arguments; nil means all fields.
func pickExpression(d sqldialect.Dialect, data string, fields []string) (expression string, args []any, err error) {
	if fields == nil || data == "NULL" {
		return data, nil, nil
	}
	list, err := d.ListArgument(fields)
	return `record_pick(` + data + `, ` + d.ListPlaceholder() + `)`, []any{list}, err
}

// opaqueCondition hides a condition's selectivity from the planner. Otherwise it may expect few rows, and read and
// sort the whole stream instead of scanning it in order.
func opaqueCondition(condition string) string {
	return "CASE WHEN " + condition + " THEN TRUE ELSE FALSE END"
}

// statement returns the statement for up to limit rows after a sequence number, in the page's order.
func (p *recordPage) statement(after int64, limit int) (text string, args []any) {
	beyond, direction := ">", ""
	if p.NewestFirst {
		beyond, direction = "<", " DESC"
		if after <= 0 {
			after = math.MaxInt64
		}
	}
	args = append(append(append(args, p.columnArgs...), p.args...), after)
	size := strconv.Itoa(limit)
	if limit > usualPageSize {
		size, args = `?`, append(args, limit)
	}
	meant := p.whereClause() + ` AND ` + p.seq + ` ` + beyond + ` ? ORDER BY ` + p.seq + direction + ` LIMIT ` + size
	if !p.by.ranged {
		return `SELECT ` + p.columns + p.tables + meant, args
	}
	// The index finds and sorts ids, and only the records of the page are read.
	return `SELECT ` + p.columns + ` FROM (SELECT ` + p.by.idColumn() + ` AS met` + p.by.fromClause() + meant +
		`) AS page CROSS JOIN records r` + recordRun +
		`WHERE r.id = page.met ORDER BY r.seq` + direction, args
}

// usualPageSize is the largest limit that is written into the statement. With a parameter, the planner would expect a
// tenth of the stream, and plan every time.
const usualPageSize = 500

// fillRecordPage reads a page, with several statements if MaxBytes limits it or some records may not match. Whole is
// false when it needs more than the given number.
func (db *DB) fillRecordPage(
	ctx context.Context, from sqldialect.Querier, p *recordPage, statements int,
) (found []store.StoredRecord, whole bool, err error) {
	m := &pagelimit.Collected{Limit: p.Limit, MaxBytes: p.MaxBytes}
	size := m.FirstLimit()
	for after := p.AfterSeq; statements > 0; statements, size = statements-1, m.NextLimit() {
		text, args := p.statement(after, size)
		rows := 0
		err := eachRow(ctx, db, from, text, args, func(r scanner) (more bool, err error) {
			record, meant, err := p.scan(r)
			if err != nil {
				return false, err
			}
			rows, after = rows+1, record.Seq
			return !meant || m.Add(record), nil
		})
		if err != nil || m.Full() || rows < size {
			return m.Found, true, err
		}
	}
	return nil, false, nil
}

// scan reads a row and reports whether it belongs to the page.
func (p *recordPage) scan(r scanner) (record store.StoredRecord, meant bool, err error) {
	var had jsontext.Value
	var left string
	into := ownDestinations(&record)
	if p.had {
		into = append(into, intoJSON(&had))
	}
	if p.departures {
		into = append(into, &left)
	}
	err = r.Scan(into...)
	record.ConnectionID, record.Stream = p.ConnectionID, p.Stream
	meant = len(p.Where) == 0 || record.Deleted && holdsAll(had, p.Where) || !record.Deleted &&
		holdsAll(record.Data, p.Where)
	if left != "" && err == nil {
		record, err = departedRecord(record, left)
	}
	pickRecordFields(&record, p.Fields)
	return record, meant, err
}

// pickRecordFields reduces a record's data to some fields.
func pickRecordFields(r *store.StoredRecord, fields []string) {
	if fields != nil && !r.Deleted {
		r.Data = recordfields.PickFields(r.Data, fields)
	}
}

// extraScanner also scans the columns after those requested.
type extraScanner struct {
	scanner
	more []any
}

func (s extraScanner) Scan(dest ...any) error { return s.scanner.Scan(append(dest, s.more...)...) }
