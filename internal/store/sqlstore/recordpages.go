package sqlstore

import (
	"context"
	"database/sql"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"pdpp/internal/store"
)

// recordPage is a page of one stream in the making.
type recordPage struct {
	store.RecordQuery
	filter
	tables string
	data   string // the expression for a record's data; of a tombstone, for what it had before
	had    string // the expression for what a tombstone had before
	seq    string // the expression for the order; the index that serves it is used for the bare column alone
}

// before joins the newest version that a tombstone replaced.
const before = ` LEFT JOIN record_history o ON r.data IS NULL AND o.record_id = r.id AND o.version = r.version - 1 `

func (db *DB) records(ctx context.Context, q store.RecordQuery, tombstones bool) ([]store.StoredRecord, error) {
	if !storable(q.ConnectionID, q.Stream, q.Since, q.Until) {
		return nil, nil
	}
	q.Limit = limitOr(q.Limit, 100)
	p := recordPage{RecordQuery: q, tables: recordTables, data: "r.data", had: "NULL", seq: "r.seq"}
	// The stream is named in a way that lets its index give the order.
	p.add("r.stream_id = (SELECT stream_id FROM streams WHERE connection_id = ? AND name = ?)", q.ConnectionID, q.Stream)
	time := "r.semantic_time"
	switch {
	case !tombstones:
		p.add("r.data IS NOT NULL")
	case q.Since != "" || q.Until != "" || len(q.Where) > 0:
		p.tables += before
		p.data, p.had, time = "coalesce(r.data, o.data)", "o.data", "coalesce(o.semantic_time, r.semantic_time)"
	}
	if q.Since != "" {
		p.add(opaque(time+" >= ?"), q.Since)
	}
	if q.Until != "" {
		p.add(opaque(time+" < ? AND "+time+" <> ''"), q.Until)
	}
	if err := p.among(db.dialect, q.Keys); err != nil {
		return nil, err
	}
	if q.UpToSeq > 0 {
		p.add(p.seq+" <= ?", q.UpToSeq)
	}
	if len(q.Where) > 0 {
		p.mayHold(p.data, q.Where, db.dialect)
		return db.readHolding(ctx, &p)
	}
	text, args := p.statement(recordColumns, q.AfterSeq, q.Limit)
	return list(ctx, db, db.reader, scanRecord, text, args...)
}

// opaque keeps a planner from guessing how few rows meet a condition: one that
// expects next to none reads and sorts the whole stream instead of walking it in order.
func opaque(condition string) string { return "CASE WHEN " + condition + " THEN TRUE ELSE FALSE END" }

// among bounds the keys, unless the list is nil. The records are then found by key
// and sorted: walking the whole stream in order would be the slower way.
func (p *recordPage) among(d Dialect, keys []string) error {
	if keys == nil {
		return nil
	}
	list, err := keyList(d, keys)
	p.add(d.Among("r.record_key"), list)
	p.seq = "+r.seq"
	return err
}

// keyList leaves out what no record has for a key.
func keyList(d Dialect, keys []string) (any, error) {
	kept := make([]string, 0, len(keys))
	for _, key := range keys {
		if storable(key) {
			kept = append(kept, key)
		}
	}
	return d.List(kept)
}

// storable reports whether both databases can hold the texts. What they cannot
// hold is nowhere found, and PostgreSQL would refuse the very question.
func storable(texts ...string) bool {
	for _, text := range texts {
		if !utf8.ValidString(text) || strings.IndexByte(text, 0) >= 0 {
			return false
		}
	}
	return true
}

// statement reads up to limit rows that follow a sequence number in the page's order.
func (p *recordPage) statement(columns string, after int64, limit int) (text string, args []any) {
	beyond, direction := ">", ""
	if p.NewestFirst {
		beyond, direction = "<", " DESC"
		if after <= 0 {
			after = math.MaxInt64
		}
	}
	text = `SELECT ` + columns + p.tables + p.where() + ` AND ` + p.seq + ` ` + beyond + ` ? ORDER BY ` + p.seq + direction
	args = append(p.args[:len(p.args):len(p.args)], after)
	if limit <= usualPage {
		return text + ` LIMIT ` + strconv.Itoa(limit), args
	}
	return text + ` LIMIT ?`, append(args, limit)
}

// usualPage is the largest page whose size stands in the statement. A planner that
// does not know it expects a tenth of the stream, and plans anew every time.
const usualPage = 500

// Rows of the first statement that looks for field values, and of any.
const (
	firstScan = 500
	maxScan   = 20_000
)

// readHolding fills the page with records that have the field values, statement
// by statement within one moment, and holds no other record in memory.
func (db *DB) readHolding(ctx context.Context, p *recordPage) (found []store.StoredRecord, err error) {
	tx, err := db.reader.BeginTx(ctx, &sql.TxOptions{ReadOnly: true, Isolation: db.dialect.Snapshot()})
	if err != nil {
		return nil, db.dialect.Classify(err)
	}
	defer tx.Rollback()
	after := p.AfterSeq
	for size := max(firstScan, p.Limit); ; size = max(p.Limit, min(2*size, maxScan)) {
		text, args := p.statement(recordColumns+`, `+p.had, after, size)
		rows := 0
		err := db.each(ctx, tx, text, args, func(r *sql.Rows) error {
			for r.Next() && len(found) < p.Limit {
				var had jsontext.Value
				record, err := scanRecord(scanMore{r, []any{intoJSON(&had)}})
				if err != nil {
					return err
				}
				rows, after = rows+1, record.Seq
				if record.Deleted && holds(had, p.Where) || !record.Deleted && holds(record.Data, p.Where) {
					found = append(found, record)
				}
			}
			return nil
		})
		if err != nil {
			return nil, db.dialect.Classify(err)
		}
		if len(found) == p.Limit || rows < size {
			return found, nil
		}
	}
}

// scanMore scans the columns that follow those it is asked for as well.
type scanMore struct {
	scanner
	more []any
}

func (s scanMore) Scan(dest ...any) error { return s.scanner.Scan(append(dest, s.more...)...) }
