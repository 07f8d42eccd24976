package sqlstore

import (
	"context"
	"database/sql"
	"math"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/keep/store"
)

// recordPage is a page of one stream in the making.
type recordPage struct {
	store.RecordQuery
	filter
	columns    string
	columnArgs []any
	tables     string
	by         path
	seq        string // the expression for the order; the index that serves it is used for the bare column alone
	had        bool   // a column has what a tombstone replaced
	departures bool   // the last column tells when a record left the bounds
}

// before joins the newest version that a tombstone replaced.
const before = ` LEFT JOIN record_history o ON r.data IS NULL AND o.record_id = r.id AND o.version = r.version - 1 `

func (db *DB) records(ctx context.Context, q store.RecordQuery, tombstones bool) (found []store.StoredRecord, err error) {
	if !storable(q.ConnectionID, q.Stream, q.Since, q.Until) || !storableField(q.Among) || !possible(q.Where) {
		return nil, nil
	}
	q.Limit = limitOr(q.Limit, 100)
	err = db.byKnown(ctx, func() error {
		by, err := db.recordPath(ctx, q, tombstones)
		if err != nil {
			return err
		}
		p, err := pageOf(db.dialect, q, tombstones, by)
		if err != nil {
			return err
		}
		found, err = db.page(ctx, p, by)
		return err
	})
	return found, err
}

// recordPath chooses the index of a page.
func (db *DB) recordPath(ctx context.Context, q store.RecordQuery, tombstones bool) (path, error) {
	if tombstones || q.Keys != nil || len(q.Where)+len(q.Compare) == 0 {
		return path{}, nil
	}
	s, err := db.lately(ctx, q.Part)
	if err != nil {
		return path{}, err
	}
	by, err := db.pathOf(ctx, db.readers(ctx), s, q.Where, q.Compare, fewForPage(s, q.Limit))
	// A range is found by its keys alone, before the records of the page are read.
	by.alone = by.ranged && q.Since == "" && q.Until == "" && q.Among == nil && len(q.Where) == 0 &&
		!slices.ContainsFunc(q.Compare, func(c store.Comparison) bool { return keyOf(c.Field, c.Kind) != by.key })
	return by, err
}

// page reads a page within one moment: by one statement, which is one by itself, and by a snapshot when there are
// several, or when they need a setting of their own.
func (db *DB) page(ctx context.Context, p *recordPage, by path) (found []store.StoredRecord, err error) {
	var bound string
	if by.single {
		bound = db.dialect.Bound(0, true)
	}
	if bound == "" && (p.MaxBytes == 0 || p.Limit <= firstRows) {
		found, whole, err := db.fill(ctx, db.readers(ctx), p, 1)
		if err != nil || whole {
			return found, err
		}
	}
	err = db.snapshot(ctx, func(from Querier) error {
		if err := db.set(ctx, from, bound); err != nil {
			return err
		}
		found, _, err = db.fill(ctx, from, p, math.MaxInt)
		return err
	})
	return found, err
}

// set runs a statement of the dialect that holds until the transaction ends, if there is one.
func (db *DB) set(ctx context.Context, from Querier, statement string) error {
	if statement == "" {
		return nil
	}
	var set string
	return db.dialect.Classify(from.QueryRowContext(ctx, statement).Scan(&set))
}

// snapshot reads by several statements within one moment.
func (db *DB) snapshot(ctx context.Context, read func(Querier) error) error {
	tx, err := db.readers(ctx).BeginTx(ctx, &sql.TxOptions{ReadOnly: true, Isolation: db.dialect.Snapshot()})
	if err != nil {
		return db.dialect.Classify(err)
	}
	defer tx.Rollback()
	return read(tx)
}

// pageOf writes down what a page is.
func pageOf(d Dialect, q store.RecordQuery, tombstones bool, by path) (*recordPage, error) {
	p := &recordPage{RecordQuery: q, tables: by.from() + recordRun, by: by, seq: by.seq()}
	data, had := "r.data", "NULL"
	if !tombstones {
		by.live(&p.filter, q.Part)
	} else {
		by.of(&p.filter, q.Part)
	}
	if tombstones && len(q.Where)+len(q.Compare) > 0 {
		p.tables += before
		data, had = "coalesce(r.data, o.data)", "o.data"
	}
	within, err := boundsOf(d, q.Part, "r")
	if err != nil {
		return nil, err
	}
	p.departures = tombstones && within.text != ""
	if err := p.reads(d, had, within); err != nil {
		return nil, err
	}
	if p.departures {
		err = p.withDepartures(d, within)
	} else {
		p.bounded(within)
	}
	if err != nil {
		return nil, err
	}
	if err := p.named(d, q.Part); err != nil {
		return nil, err
	}
	if q.Keys != nil || by.ranged && by.table == "" {
		// The records are found by key, or by an index, and sorted: walking the whole stream in order
		// would be the slower way.
		p.seq = "+r.seq"
	}
	if q.UpToSeq > 0 {
		p.add(p.seq+" <= ?", q.UpToSeq)
	}
	for _, w := range q.Where {
		if !by.tells(w) {
			p.holding(data, []store.FieldValue{w})
		}
		if by.key == textKey(w.Field) {
			p.compare(d, by, data, by.key, "=", store.CutText(w.Value))
		}
	}
	for _, c := range q.Compare {
		p.comparing(d, by, data, c)
	}
	return p, nil
}

// within adds what makes a live record one of a part.
func (f *filter) within(d Dialect, p store.Part) error {
	within, err := boundsOf(d, p, "r")
	if err != nil {
		return err
	}
	f.bounded(within)
	return f.named(d, p)
}

// bounded adds the bounds of a part, if there are any.
func (f *filter) bounded(b bounds) {
	if b.text != "" {
		f.add(opaque(b.text), b.args...)
	}
}

// named adds what a part says of a record beside its bounds: its key, and that its time is
// the one that is declared.
func (f *filter) named(d Dialect, p store.Part) error {
	if p.Declared != nil && (p.Since != "" || p.Until != "") {
		f.add(`r.seq <= (SELECT CASE WHEN time_field = ? THEN time_seq ELSE -1 END FROM streams WHERE connection_id = ? AND name = ?)`,
			p.Declared.TimeField, p.ConnectionID, p.Stream)
	}
	if p.Keys == nil {
		return nil
	}
	list, err := d.List(storableOnly(p.Keys))
	f.add(d.AmongKeys("r.record_key"), list)
	return err
}

// reads chooses the columns: of the data only the fields that the page gives or is asked
// for by, and of a tombstone what it had before as far as it is asked for. Nothing is read
// of a record that left the bounds but when it did.
func (p *recordPage) reads(d Dialect, had string, within bounds) error {
	data, args, err := picked(d, "r.data", readFields(p.Fields, p.Where))
	if err != nil {
		return err
	}
	if p.departures {
		data, args = `CASE WHEN `+within.text+` THEN `+data+` END`, append(slices.Clone(within.args), args...)
	}
	p.columns, p.columnArgs = ownColumnsOf(data), args
	if p.had = had != "NULL" && len(p.Where) > 0; p.had {
		if had, args, err = picked(d, had, readFields([]string{}, p.Where)); err != nil {
			return err
		}
		p.columns += `, ` + had
		p.columnArgs = append(p.columnArgs, args...)
	}
	if !p.departures {
		return nil
	}
	leaving, args, err := leavingOf(d, p.Part)
	p.columns += `, CASE WHEN ` + within.text + ` THEN '' ELSE (SELECT coalesce(n.changed_at, r.changed_at)` + leaving + ` ORDER BY v.version DESC LIMIT 1) END`
	p.columnArgs = append(append(p.columnArgs, within.args...), args...)
	return err
}

// picked is an expression for some fields of a record's data, with its arguments; nil
// fields are all of them.
func picked(d Dialect, data string, fields []string) (expression string, args []any, err error) {
	if fields == nil || data == "NULL" {
		return data, nil, nil
	}
	list, err := d.List(fields)
	return `record_pick(` + data + `, ` + d.Texts() + `)`, []any{list}, err
}

// opaque keeps a planner from guessing how few rows meet a condition: one that
// expects next to none reads and sorts the whole stream instead of walking it in order.
func opaque(condition string) string { return "CASE WHEN " + condition + " THEN TRUE ELSE FALSE END" }

// statement reads up to limit rows that follow a sequence number in the page's order.
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
	if limit > usualPage {
		size, args = `?`, append(args, limit)
	}
	meant := p.where() + ` AND ` + p.seq + ` ` + beyond + ` ? ORDER BY ` + p.seq + direction + ` LIMIT ` + size
	if !p.by.ranged {
		return `SELECT ` + p.columns + p.tables + meant, args
	}
	// The index finds and sorts numbers, and only the page itself is read.
	return `SELECT ` + p.columns + ` FROM (SELECT ` + p.by.id() + ` AS met` + p.by.from() + meant + `) AS page CROSS JOIN records r` + recordRun +
		`WHERE r.id = page.met ORDER BY r.seq` + direction, args
}

// usualPage is the largest page whose size stands in the statement. A planner that
// does not know it expects a tenth of the stream, and plans anew every time.
const usualPage = 500

// fill reads a page, by several statements when it is bounded by bytes or its records may
// turn out not to be meant. With fewer of them than it takes the page is not whole.
func (db *DB) fill(ctx context.Context, from Querier, p *recordPage, statements int) (found []store.StoredRecord, whole bool, err error) {
	m := &growing{limit: p.Limit, maxBytes: p.MaxBytes}
	size := m.first()
	for after := p.AfterSeq; statements > 0; statements, size = statements-1, m.next() {
		text, args := p.statement(after, size)
		rows := 0
		err := eachRow(ctx, db, from, text, args, func(r scanner) (more bool, err error) {
			record, meant, err := p.scan(r)
			if err != nil {
				return false, err
			}
			rows, after = rows+1, record.Seq
			return !meant || m.add(record), nil
		})
		if err != nil || m.full() || rows < size {
			return m.found, true, err
		}
	}
	return nil, false, nil
}

// scan reads a row, and says whether the page is meant to have it.
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
	meant = len(p.Where) == 0 || record.Deleted && holds(had, p.Where) || !record.Deleted && holds(record.Data, p.Where)
	if left != "" && err == nil {
		record, err = departed(record, left)
	}
	pick(&record, p.Fields)
	return record, meant, err
}

// pick leaves of a record what is wanted of it.
func pick(r *store.StoredRecord, fields []string) {
	if fields != nil && !r.Deleted {
		r.Data = PickFields(r.Data, fields)
	}
}

// PickFields gives some fields of a record, and none of one that cannot be read.
func PickFields(data []byte, fields []string) jsontext.Value {
	picked, err := store.PickFields(data, fields)
	if err != nil {
		return jsontext.Value("{}")
	}
	return picked
}

// scanMore scans the columns that follow those it is asked for as well.
type scanMore struct {
	scanner
	more []any
}

func (s scanMore) Scan(dest ...any) error { return s.scanner.Scan(append(dest, s.more...)...) }
