package sqlstore

import (
	"context"
	"database/sql"
	"math"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"pdpp/internal/keep/store"
)

// recordPage is a page of one stream in the making.
type recordPage struct {
	store.RecordQuery
	filter
	columns    string
	columnArgs []any
	tables     string
	seq        string // the expression for the order; the index that serves it is used for the bare column alone
	departures bool   // the last column tells when a record left the bounds
}

// before joins the newest version that a tombstone replaced.
const before = ` LEFT JOIN record_history o ON r.data IS NULL AND o.record_id = r.id AND o.version = r.version - 1 `

func (db *DB) records(ctx context.Context, q store.RecordQuery, tombstones bool) (found []store.StoredRecord, err error) {
	if !storable(q.ConnectionID, q.Stream, q.Since, q.Until) || !storableField(q.Among) || !possible(q.Where) {
		return nil, nil
	}
	q.Limit = limitOr(q.Limit, 100)
	read := func(from Querier) error {
		var by path
		if !tombstones && q.Keys == nil && len(q.Where)+len(q.Compare) > 0 {
			s, err := db.indexed(ctx, from, q.Part)
			if err != nil {
				return err
			}
			if by, err = db.pathOf(ctx, from, s, q.Where, q.Compare); err != nil {
				return err
			}
		}
		p, err := pageOf(db.dialect, q, tombstones, by)
		if err != nil {
			return err
		}
		found, err = db.fill(ctx, from, p)
		return err
	}
	if len(q.Where)+len(q.Compare) > 0 || q.MaxBytes > 0 && q.Limit > firstRows {
		err = db.snapshot(ctx, read)
	} else {
		err = read(db.readers(ctx))
	}
	return found, err
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
	p := &recordPage{RecordQuery: q, tables: by.from() + recordOrigin, seq: by.seq()}
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
	if q.Keys != nil {
		// The records are found by key and sorted: walking the whole stream in order would
		// be the slower way.
		p.seq = "+r.seq"
	}
	if q.UpToSeq > 0 {
		p.add(p.seq+" <= ?", q.UpToSeq)
	}
	p.holding(data, q.Where)
	for _, w := range q.Where {
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
	f.add(d.Among("r.record_key"), list)
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
	p.columns, p.columnArgs = recordColumnsOf(data), args
	if len(p.Where) > 0 {
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
	text = `SELECT ` + p.columns + p.tables + p.where() + ` AND ` + p.seq + ` ` + beyond + ` ? ORDER BY ` + p.seq + direction
	args = append(append(append(args, p.columnArgs...), p.args...), after)
	if limit <= usualPage {
		return text + ` LIMIT ` + strconv.Itoa(limit), args
	}
	return text + ` LIMIT ?`, append(args, limit)
}

// usualPage is the largest page whose size stands in the statement. A planner that
// does not know it expects a tenth of the stream, and plans anew every time.
const usualPage = 500

// fill reads a page, by several statements when it is bounded by bytes or its records may
// turn out not to be meant.
func (db *DB) fill(ctx context.Context, from Querier, p *recordPage) ([]store.StoredRecord, error) {
	m := &growing{limit: p.Limit, maxBytes: p.MaxBytes}
	size := m.first()
	for after := p.AfterSeq; ; size = m.next() {
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
			return m.found, err
		}
	}
}

// scan reads a row, and says whether the page is meant to have it.
func (p *recordPage) scan(r scanner) (record store.StoredRecord, meant bool, err error) {
	var had jsontext.Value
	var left string
	var more []any
	if len(p.Where) > 0 {
		more = append(more, intoJSON(&had))
	}
	if p.departures {
		more = append(more, &left)
	}
	record, err = scanRecord(scanMore{r, more})
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
