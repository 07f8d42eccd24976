package sqlstore

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// timedPage is a page in the order of time in the making.
type timedPage struct {
	store.TimedQuery
	filter
	columns    string
	columnArgs []any
	from       string // the tables
	// kept says that the time is read from beside the data, where it is a text; otherwise it is
	// a number of microseconds.
	kept   bool
	at     string // the expression for the time
	atArgs []any
}

func (db *DB) Timed(ctx context.Context, q store.TimedQuery) (found []store.TimedRecord, err error) {
	q.Limit = limitOr(q.Limit, 100)
	if !askable(q) {
		return nil, nil
	}
	var whole bool
	err = db.byKnown(ctx, func() (err error) {
		found, whole, err = db.timedAtOnce(ctx, q)
		return err
	})
	if err != nil || whole {
		return found, err
	}
	err = db.timed(ctx, q, func(from Querier, p *timedPage) error {
		found, _, err = db.fillTimed(ctx, from, p, math.MaxInt)
		return err
	})
	return found, err
}

// timedAtOnce reads a page by one statement, which is one moment by itself, and by the indexes that are known. That
// the times beside the data are those that are asked for is a condition of it: where it finds nothing, that may be why,
// and the page is not whole.
func (db *DB) timedAtOnce(ctx context.Context, q store.TimedQuery) (found []store.TimedRecord, whole bool, err error) {
	s, err := db.lately(ctx, q.Part)
	if err != nil {
		return nil, false, err
	}
	p, err := db.timedPage(q, s)
	if err != nil {
		return nil, false, err
	}
	if p.kept {
		p.add("s.time_field = ? AND s.time_seq >= s.last_seq", q.Field)
	}
	found, whole, err = db.fillTimed(ctx, db.readers(ctx), p, 1)
	return found, whole && (len(found) > 0 || !p.kept), err
}

func (db *DB) CountTimed(ctx context.Context, q store.TimedQuery, most int64) (n int64, err error) {
	if q.After = nil; !askable(q) {
		return 0, nil
	}
	err = db.timed(ctx, q, func(from Querier, p *timedPage) error {
		if len(p.Where) == 0 {
			text, args := p.body(nil)
			err := from.QueryRowContext(ctx, db.dialect.Rebind(`SELECT count(*) FROM (SELECT 1`+text+` LIMIT ?) AS few`), append(args, most+1)...).Scan(&n)
			return db.dialect.Classify(err)
		}
		// What a record holds is known for certain when it has been read.
		p.Fields = []string{}
		if p.columns, p.columnArgs, err = p.reads(db.dialect); err != nil {
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

// askable reports whether any record can be what is asked for.
func askable(q store.TimedQuery) bool {
	return storable(q.ConnectionID, q.Stream, q.Since, q.Until, q.Field) && storableField(q.Among) && possible(q.Where)
}

// timed writes down what is asked for, and reads it within one moment.
func (db *DB) timed(ctx context.Context, q store.TimedQuery, read func(Querier, *timedPage) error) error {
	return db.snapshot(ctx, func(from Querier) error {
		s, err := db.indexed(ctx, from, q.Part)
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

// timedPath is the index of a value that is asked for, which leaves few records to put into
// order, or that of the time, which has them in order.
func (db *DB) timedPath(s indexedStream, q store.TimedQuery) path {
	for _, w := range q.Where {
		if k := textKey(w.Field); s.has(k) && storable(w.Value) {
			return db.pathBy(s, k)
		}
	}
	switch k := timeKey(q.Field); {
	case s.timeField == q.Field && slices.Contains(s.indexes, timeIndex):
		return path{streamID: s.id, hint: db.dialect.UsingIndex(timeIndex), shared: true}
	case s.timeField != q.Field && s.has(k):
		return db.pathBy(s, k)
	}
	return path{}
}

func (db *DB) timedPage(q store.TimedQuery, s indexedStream) (p *timedPage, err error) {
	d, by := db.dialect, db.timedPath(s, q)
	p = &timedPage{TimedQuery: q, from: by.from() + recordOrigin, kept: s.timeField == q.Field}
	by.live(&p.filter, q.Part)
	if err := p.within(d, q.Part); err != nil {
		return nil, err
	}
	p.holding("r.data", q.Where)
	for _, w := range q.Where {
		if by.key == textKey(w.Field) {
			p.compare(d, by, "r.data", by.key, "=", store.CutText(w.Value))
		}
	}
	if p.kept {
		p.at = "r.semantic_time"
		p.add("r.semantic_time <> ''")
	} else {
		p.at, p.atArgs = by.expression(d, timeKey(q.Field), "r.data")
	}
	for _, bound := range []struct {
		operator string
		at       time.Time
	}{{">=", q.From}, {"<", q.To}} {
		if !bound.at.IsZero() {
			value := `?`
			if p.kept && len(q.Where) == 0 {
				// The index of times is the way, however many records are within the bounds: a planner that sees them
				// plans anew every time.
				value = `(SELECT CAST(? AS text))`
			}
			p.add(p.at+` `+bound.operator+` `+value, append(slices.Clone(p.atArgs), p.moment(bound.at.UnixMicro()))...)
		}
	}
	if !p.kept && q.From.IsZero() && q.To.IsZero() {
		p.add(p.at+" IS NOT NULL", p.atArgs...)
	}
	p.columns, p.columnArgs, err = p.reads(d)
	return p, err
}

// moment is a time as the page compares it.
func (p *timedPage) moment(micros int64) any {
	if p.kept {
		return semanticTime(time.UnixMicro(micros))
	}
	return float64(micros)
}

// smallData is how many bytes of data are sooner read whole than looked through by the database for the
// fields that are wanted: scan looks through them anyway.
const smallData = 4 << 10

// reads chooses the columns: of large data the fields that the page gives or is asked for by.
func (p *timedPage) reads(d Dialect) (columns string, args []any, err error) {
	data, args, err := picked(d, "r.data", readFields(p.Fields, p.Where))
	if data != "r.data" {
		data = `CASE WHEN octet_length(r.data) > ` + strconv.Itoa(smallData) + ` THEN ` + data + ` ELSE r.data END`
	}
	return recordColumnsOf(data), args, err
}

// body is everything behind the columns of what follows a moment.
func (p *timedPage) body(after *store.Moment) (text string, args []any) {
	text, args = p.from+p.where(), append(args, p.args...)
	if after != nil {
		beyond := ">"
		if p.NewestFirst {
			beyond = "<"
		}
		// The first condition is the one that an index finds the place by.
		text += ` AND ` + p.at + ` ` + beyond + `= ? AND (` + p.at + ` ` + beyond + ` ? OR r.id ` + beyond + ` ?)`
		at := p.moment(after.At)
		args = slices.Concat(args, p.atArgs, []any{at}, p.atArgs, []any{at, after.ID})
	}
	return text, args
}

// statement reads records and their times.
func (p *timedPage) statement(after *store.Moment) (text string, args []any) {
	text, args = p.body(after)
	return `SELECT ` + p.columns + `, ` + p.at + ` AS moment` + text, slices.Concat(p.columnArgs, p.atArgs, args)
}

// firstTimed is how many records are read at first of which some fields are wanted alone: most days of a
// stream have fewer.
const firstTimed = 64

// fillTimed reads a page by so many statements at most. With fewer of them than it takes the page is not whole.
func (db *DB) fillTimed(ctx context.Context, from Querier, p *timedPage, statements int) (found []store.TimedRecord, whole bool, err error) {
	m := &growing{limit: p.Limit, maxBytes: p.MaxBytes}
	size := m.first()
	if p.Fields != nil {
		size = min(p.Limit, firstTimed)
	}
	direction := ""
	if p.NewestFirst {
		direction = " DESC"
	}
	after := p.After
	for ; statements > 0; statements, size = statements-1, m.next() {
		text, args := p.statement(after)
		text += ` ORDER BY moment` + direction + `, r.id` + direction + ` LIMIT ` + strconv.Itoa(size)
		rows := 0
		err := eachRow(ctx, db, from, text, args, func(r scanner) (more bool, err error) {
			record, meant, err := p.scan(r)
			if err != nil {
				return false, err
			}
			last := record.Moment()
			rows, after = rows+1, &last
			if !meant {
				return true, nil
			}
			found = append(found, record)
			return m.add(record.StoredRecord), nil
		})
		if err != nil || m.full() || rows < size {
			return found, true, err
		}
	}
	return nil, false, nil
}

// scan reads a row, and says whether the page is meant to have it.
func (p *timedPage) scan(r scanner) (record store.TimedRecord, meant bool, err error) {
	var micros float64
	var text string
	at := any(&micros)
	if p.kept {
		at = &text
	}
	if record.StoredRecord, err = scanRecord(scanMore{r, []any{at}}); err != nil {
		return record, false, err
	}
	record.At = time.UnixMicro(int64(micros)).UTC()
	if p.kept {
		if record.At, err = time.Parse(protocol.StoredTime, text); err != nil {
			return record, false, fmt.Errorf("read the time of record %d: %w", record.ID, err)
		}
	}
	meant = holds(record.Data, p.Where)
	pick(&record.StoredRecord, p.Fields)
	return record, meant, nil
}
