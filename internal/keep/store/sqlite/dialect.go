package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
	"unsafe"

	"github.com/go-json-experiment/json"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/keep/store/sqlstore"
)

// rowsPerStatement is how many records one statement writes. Fifty is where
// the cost per statement has become small against that of its rows.
const rowsPerStatement = 50

// dialect is SQLite's part of the store. Its statements are prepared once and
// live on the writer's connection.
type dialect struct {
	where    string
	patience time.Duration // how long a writer waits for another one
	build    time.Duration // how long all writers may have to wait for an index of records
	moment   time.Duration // how long they may have to wait for a part of the index of a field
	rows     int           // how many records of it are read between two looks at the clock
	many     *sql.Stmt     // rowsPerStatement records
	single   *sql.Stmt     // one record
	newest   *sql.Stmt     // the highest id of a record
	tables   *sql.Stmt     // of the indexes of fields of a stream
}

func (d *dialect) prepare(ctx context.Context, writer *sql.DB) (err error) {
	if d.many, err = writer.PrepareContext(ctx, upsertQuery(rowsPerStatement)); err != nil {
		return err
	}
	if d.single, err = writer.PrepareContext(ctx, upsertQuery(1)); err != nil {
		return err
	}
	if d.newest, err = writer.PrepareContext(ctx, `SELECT coalesce(max(id), 0) FROM records`); err != nil {
		return err
	}
	d.tables, err = writer.PrepareContext(ctx, fieldTables)
	return err
}

// Rebind leaves the query alone: ? is SQLite's placeholder.
func (d *dialect) Rebind(query string) string { return query }

// ForUpdate is empty: a write transaction has the whole database to itself.
func (d *dialect) ForUpdate() string { return "" }

// Snapshot is what every transaction of a WAL database sees anyway.
func (d *dialect) Snapshot() sql.IsolationLevel { return sql.LevelDefault }

// Clock is empty: SQLite would tell the time of this very process.
func (d *dialect) Clock() string { return "" }

// upsertQuery writes n records. Parameters 1 to 4 are common to all rows;
// four more for each row follow.
func upsertQuery(n int) string {
	var b strings.Builder
	b.WriteString(`INSERT INTO records (stream_id, run_no, changed_at, seq, version, record_key, data, emitted_at, semantic_time) VALUES `)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `(?1, ?2, ?3, ?4 + %d, 1, ?, ?, ?, ?)`, i+1)
	}
	b.WriteString(` ON CONFLICT (stream_id, record_key) DO UPDATE SET data = excluded.data, emitted_at = excluded.emitted_at,
		semantic_time = excluded.semantic_time, seq = excluded.seq, version = version + 1,
		changed_at = excluded.changed_at, run_no = excluded.run_no
		WHERE data IS NOT excluded.data`)
	return b.String()
}

// UpsertRecords counts new rows by their ids: a new record gets the highest id
// plus one, none is ever deleted, and nobody else writes meanwhile.
func (d *dialect) UpsertRecords(ctx context.Context, tx *sql.Tx, b sqlstore.Batch) (done sqlstore.Upserted, err error) {
	newest := tx.StmtContext(ctx, d.newest)
	var before, after int64
	if err := newest.QueryRowContext(ctx).Scan(&before); err != nil {
		return done, err
	}
	if done.Changed, err = d.upsert(ctx, tx, b); err != nil {
		return done, err
	}
	if err := d.indexFields(ctx, tx, b); err != nil {
		return done, fmt.Errorf("index fields: %w", err)
	}
	err = newest.QueryRowContext(ctx).Scan(&after)
	done.Added = after - before
	return done, err
}

func (d *dialect) upsert(ctx context.Context, tx *sql.Tx, b sqlstore.Batch) (changed int64, err error) {
	many, single := tx.StmtContext(ctx, d.many), tx.StmtContext(ctx, d.single)
	args := make([]any, 0, 4+4*rowsPerStatement)
	for done := 0; done < len(b.Pick); {
		stmt, n := many, rowsPerStatement
		if len(b.Pick)-done < n {
			stmt, n = single, 1
		}
		args = append(args[:0], b.StreamID, b.RunNo, b.ChangedAt, b.BaseSeq+int64(done))
		for _, i := range b.Pick[done : done+n] {
			r := &b.Records[i]
			var data any // a tombstone has none
			if !r.Deleted() {
				// The driver copies the bytes before Exec returns.
				data = unsafe.String(unsafe.SliceData(r.Data), len(r.Data))
			}
			args = append(args, r.Key, data, r.EmittedAt, r.SemanticTime)
		}
		res, err := stmt.ExecContext(ctx, args...)
		if err != nil {
			return changed, err
		}
		rows, err := res.RowsAffected()
		if err != nil {
			return changed, err
		}
		changed += rows
		done += n
	}
	return changed, nil
}

func (d *dialect) Among(column string) string {
	return column + ` IN (SELECT value FROM json_each(?))`
}

func (d *dialect) AmongKeys(column string) string { return d.Among(column) }

func (d *dialect) Elements() string { return `json_each(?)` }

func (d *dialect) List(values []string) (any, error) {
	list, err := json.Marshal(values)
	return string(list), err
}

// Texts needs no type.
func (d *dialect) Texts() string { return `?` }

// Quietly is empty: the trigger looks at data alone.
func (d *dialect) Quietly() string { return "" }

func (d *dialect) Loudly() string { return "" }

// Bytewise is the order of every text.
func (d *dialect) Bytewise(_ bool, expression string) string { return expression }

func (d *dialect) Period(g store.Granularity, micros string) string {
	layout := map[store.Granularity]string{store.ByDay: "%Y-%m-%d", store.ByMonth: "%Y-%m", store.ByYear: "%Y"}[g]
	return `strftime('` + layout + `', floor(` + micros + ` / 86400e6) * 86400, 'unixepoch')`
}

// Sum keeps account of what is lost by rounding.
func (d *dialect) Sum(numbers string) string { return `sum(` + numbers + `)` }

// OneOf needs no care: values are looked for in an index one by one.
func (d *dialect) OneOf(column, query string) string { return column + ` IN (` + query + `)` }

// Apart lets the query read its index alone: the planner does not see that a function of
// what the index holds needs nothing else.
func (d *dialect) Apart() string { return ` LIMIT -1` }

// Share is nothing: an index is counted in no time, and nobody has statistics of it.
func (d *dialect) Share(bool, string) string { return "" }

func (d *dialect) Bound(time.Duration, bool) string { return "" }

func (d *dialect) NoIndex(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code() == sqlite3.SQLITE_ERROR && strings.Contains(e.Error(), "no such table: "+sqlstore.FieldIndexPrefix)
}

func (d *dialect) TooLong(error) bool { return false }

func (d *dialect) Verification() string { return `PRAGMA quick_check(3)` }
