package sqlstore

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/sqldialect"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/pagelimit"
	"github.com/pdpp-go/pdpp/protocol"
)

// byTimePage is a page in the order of time under construction.
type byTimePage struct {
	store.ByTimeQuery
	sqlFilter
	columns    string
	columnArgs []any
	from       string // the tables
	// semantic means that the time is read from the semantic_time column, which is a text. Otherwise it is a number
	// of microseconds.
	semantic bool
	at       string // the expression for the time
	atArgs   []any
}

func (db *DB) RecordsByTime(ctx context.Context, q store.ByTimeQuery) (found []store.TimedRecord, err error) {
	q.Limit = limitOrDefault(q.Limit, 100)
	if !canMatchAny(q) {
		return nil, nil
	}
	var whole bool
	err = db.retryWithoutCache(ctx, func() (err error) {
		found, whole, err = db.readByTimeOnce(ctx, q)
		return err
	})
	if err != nil || whole {
		return found, err
	}
	err = db.readByTime(ctx, q, func(from sqldialect.Querier, p *byTimePage) error {
		found, _, err = db.fillByTimePage(ctx, from, p, math.MaxInt)
		return err
	})
	return found, err
}

// readByTimeOnce reads a page with one statement and the cached indexes. The statement has the condition that
// semantic times are those of the requested field. If it finds nothing, that condition may be the reason, and the
// page is not complete.
func (db *DB) readByTimeOnce(
	ctx context.Context, q store.ByTimeQuery,
) (found []store.TimedRecord, whole bool, err error) {
	s, err := db.cachedIndexes(ctx, q.AccessFilter)
	if err != nil {
		return nil, false, err
	}
	p, err := db.timedPage(q, s)
	if err != nil {
		return nil, false, err
	}
	if p.semantic {
		p.addCondition("s.time_field = ? AND s.time_seq >= s.last_seq", q.Field)
	}
	found, whole, err = db.fillByTimePage(ctx, db.readers(ctx), p, 1)
	return found, whole && (len(found) > 0 || !p.semantic), err
}

func (db *DB) CountByTime(ctx context.Context, q store.ByTimeQuery, most int64) (n int64, err error) {
	if q.After = nil; !canMatchAny(q) {
		return 0, nil
	}
	err = db.readByTime(ctx, q, func(from sqldialect.Querier, p *byTimePage) error {
		if len(p.Where) == 0 {
			text, args := p.body(nil)
			err := from.QueryRowContext(ctx, db.dialect.Rebind(`SELECT count(*) FROM (SELECT 1`+text+` LIMIT ?) AS few`),
				append(args, most+1)...).Scan(&n)
			return db.dialect.ClassifyError(err)
		}
		// The data of a record is needed to check its field.
		p.Fields = []string{}
		if p.columns, p.columnArgs, err = p.chooseColumns(db.dialect); err != nil {
			return err
		}
		text, args := p.statement(nil)
		return eachRow(ctx, db, from, text, args, func(r scanner) (bool, error) {
			_, meant, err := p.scan(r)
			if meant {
				n++
			}
			return n <= most, err
		})
	})
	return n, err
}

// canMatchAny reports whether any record can match the query.
func canMatchAny(q store.ByTimeQuery) bool {
	return isStorable(q.ConnectionID, q.Stream, q.Since, q.Until, q.Field) && isStorableField(q.AllowedValues) &&
		arePossible(q.Where)
}

// readByTime builds the page and reads it in one snapshot.
func (db *DB) readByTime(
	ctx context.Context, q store.ByTimeQuery, read func(sqldialect.Querier, *byTimePage) error,
) error {
	return db.readSnapshot(ctx, func(from sqldialect.Querier) error {
		s, err := db.indexedStreamOf(ctx, from, q.AccessFilter)
		if err != nil {
			return err
		}
		p, err := db.timedPage(q, s)
		if err != nil {
			return err
		}
		return read(from, p)
	})
}

// byTimePath chooses the index of a filtered value, which leaves few records to sort, or that of the time, which
// needs no sorting.
func (db *DB) byTimePath(s indexedStream, q store.ByTimeQuery) readPath {
	for _, w := range q.Where {
		if k := textKey(w.Field); s.has(k) && isStorable(w.Value) {
			return db.pathByKey(s, k)
		}
	}
	switch k := timeKey(q.Field); {
	case s.timeField == q.Field && slices.Contains(s.indexes, timeIndex):
		return readPath{streamID: s.id, hint: db.dialect.UsingIndex(timeIndex), shared: true}
	case s.timeField != q.Field && s.has(k):
		return db.pathByKey(s, k)
	}
	return readPath{}
}

func (db *DB) timedPage(q store.ByTimeQuery, s indexedStream) (p *byTimePage, err error) {
	d, by := db.dialect, db.byTimePath(s, q)
	p = &byTimePage{ByTimeQuery: q, from: by.fromClause() + recordOrigin, semantic: s.timeField == q.Field}
	by.addLiveConditions(&p.sqlFilter, q.AccessFilter)
	if err := p.addAccess(d, q.AccessFilter); err != nil {
		return nil, err
	}
	p.addFieldValues("r.data", q.Where)
	for _, w := range q.Where {
		if by.key == textKey(w.Field) {
			p.addFieldCompare(d, by, "r.data", by.key, "=", store.TruncateText(w.Value))
		}
	}
	if p.semantic {
		p.at = "r.semantic_time"
		p.addCondition("r.semantic_time <> ''")
	} else {
		p.at, p.atArgs = by.expression(d, timeKey(q.Field), "r.data")
	}
	for _, bound := range []struct {
		operator string
		at       time.Time
	}{{">=", q.From}, {"<", q.To}} {
		if !bound.at.IsZero() {
			value := `?`
			if p.semantic && len(q.Where) == 0 {
				// The subquery hides the value from the planner. The time index is right for any number of records,
				// and a visible value would be planned again every time.
				value = `(SELECT CAST(? AS text))`
			}
			p.addCondition(p.at+` `+bound.operator+` `+value,
				append(slices.Clone(p.atArgs), p.timeArgument(bound.at.UnixMicro()))...)
		}
	}
	if !p.semantic && q.From.IsZero() && q.To.IsZero() {
		p.addCondition(p.at+" IS NOT NULL", p.atArgs...)
	}
	p.columns, p.columnArgs, err = p.chooseColumns(d)
	return p, err
}

// timeArgument returns a time in the form that the page compares.
func (p *byTimePage) timeArgument(micros int64) any {
	if p.semantic {
		return semanticTime(time.UnixMicro(micros))
	}
	return float64(micros)
}

// smallDataSize is the size up to which reading the whole data is faster than extracting fields in the database.
const smallDataSize = 4 << 10

// chooseColumns selects, for large data, only the fields that are returned or filtered by.
func (p *byTimePage) chooseColumns(d sqldialect.Dialect) (columns string, args []any, err error) {
	data, args, err := pickExpression(d, "r.data", fieldsToRead(p.Fields, p.Where))
	if data != "r.data" {
		data = `CASE WHEN octet_length(r.data) > ` + strconv.Itoa(smallDataSize) + ` THEN ` + data + ` ELSE r.data END`
	}
	return recordColumnsOf(data), args, err
}

// body returns the statement after its columns, for the records after a position.
func (p *byTimePage) body(after *store.TimePosition) (text string, args []any) {
	text, args = p.from+p.whereClause(), append(args, p.args...)
	if after != nil {
		beyond := ">"
		if p.NewestFirst {
			beyond = "<"
		}
		// The first condition is the one that an index can seek by.
		text += ` AND ` + p.at + ` ` + beyond + `= ? AND (` + p.at + ` ` + beyond + ` ? OR r.id ` + beyond + ` ?)`
		at := p.timeArgument(after.At)
		args = slices.Concat(args, p.atArgs, []any{at}, p.atArgs, []any{at, after.ID})
	}
	return text, args
}

// statement returns the statement that reads records and their times.
func (p *byTimePage) statement(after *store.TimePosition) (text string, args []any) {
	text, args = p.body(after)
	return `SELECT ` + p.columns + `, ` + p.at + ` AS moment` + text, slices.Concat(p.columnArgs, p.atArgs, args)
}

// firstByTimeRows is how many records the first statement reads when only some fields are requested. Most days have
// fewer.
const firstByTimeRows = 64

// fillByTimePage reads a page with at most the given number of statements. Whole is false when the page needs more.
func (db *DB) fillByTimePage(
	ctx context.Context, from sqldialect.Querier, p *byTimePage, statements int,
) (found []store.TimedRecord, whole bool, err error) {
	m := &pagelimit.Collected{Limit: p.Limit, MaxBytes: p.MaxBytes}
	size := m.FirstLimit()
	if p.Fields != nil {
		size = min(p.Limit, firstByTimeRows)
	}
	direction := ""
	if p.NewestFirst {
		direction = " DESC"
	}
	after := p.After
	for ; statements > 0; statements, size = statements-1, m.NextLimit() {
		text, args := p.statement(after)
		text += ` ORDER BY moment` + direction + `, r.id` + direction + ` LIMIT ` + strconv.Itoa(size)
		rows := 0
		err := eachRow(ctx, db, from, text, args, func(r scanner) (more bool, err error) {
			record, meant, err := p.scan(r)
			if err != nil {
				return false, err
			}
			last := record.TimePosition()
			rows, after = rows+1, &last
			if !meant {
				return true, nil
			}
			found = append(found, record)
			return m.Add(record.StoredRecord), nil
		})
		if err != nil || m.Full() || rows < size {
			return found, true, err
		}
	}
	return nil, false, nil
}

// scan reads a row and reports whether it matches the query.
func (p *byTimePage) scan(r scanner) (record store.TimedRecord, meant bool, err error) {
	var micros float64
	var text string
	at := any(&micros)
	if p.semantic {
		at = &text
	}
	if record.StoredRecord, err = scanRecord(extraScanner{r, []any{at}}); err != nil {
		return record, false, err
	}
	record.At = time.UnixMicro(int64(micros)).UTC()
	if p.semantic {
		if record.At, err = time.Parse(protocol.StoredTime, text); err != nil {
			return record, false, fmt.Errorf("read the time of record %d: %w", record.ID, err)
		}
	}
	meant = holdsAll(record.Data, p.Where)
	pickRecordFields(&record.StoredRecord, p.Fields)
	return record, meant, nil
}
