package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
	"unsafe"

	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/sqldialect"

	"github.com/go-json-experiment/json"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore"
)

// rowsPerStatement is how many records one statement writes. At fifty, the cost per statement is small against that
// of its rows.
const rowsPerStatement = 50

// dialect implements sqldialect.Dialect for SQLite. Its statements are prepared once, on the writer's connection.
type dialect struct {
	where         string
	busyTimeout   time.Duration // how long a writer waits for another one
	maxBuildTime  time.Duration // how long an index on records may block all writers
	fieldStepTime time.Duration // how long one step of a field index may block them
	fieldStepRows int           // how many records a step reads between two checks of the time
	upsertMany    *sql.Stmt     // rowsPerStatement records
	upsertOne     *sql.Stmt     // one record
	newestID      *sql.Stmt     // the highest id of a record
	fieldTables   *sql.Stmt     // the field index tables of a stream
}

func (d *dialect) prepare(ctx context.Context, writer *sql.DB) (err error) {
	if d.upsertMany, err = writer.PrepareContext(ctx, upsertQuery(rowsPerStatement)); err != nil {
		return err
	}
	if d.upsertOne, err = writer.PrepareContext(ctx, upsertQuery(1)); err != nil {
		return err
	}
	if d.newestID, err = writer.PrepareContext(ctx, `SELECT coalesce(max(id), 0) FROM records`); err != nil {
		return err
	}
	d.fieldTables, err = writer.PrepareContext(ctx, fieldTableQuery)
	return err
}

// Rebind returns the query unchanged: ? is SQLite's placeholder.
func (d *dialect) Rebind(query string) string { return query }

// ForUpdate is empty: a write transaction locks the whole database.
func (d *dialect) ForUpdate() string { return "" }

// SnapshotLevel is the default: every transaction of a WAL database sees one snapshot.
func (d *dialect) SnapshotLevel() sql.IsolationLevel { return sql.LevelDefault }

// ClockQuery is empty: SQLite would return the time of this process.
func (d *dialect) ClockQuery() string { return "" }

// upsertQuery returns the statement that writes n records. Parameters 1 to 4 are common to all rows; four more for
// each row follow.
func upsertQuery(n int) string {
	var b strings.Builder
	b.WriteString(`INSERT INTO records (stream_id, run_no, changed_at, seq, version, record_key, data, emitted_at,
		semantic_time) VALUES `)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `(?1, ?2, ?3, ?4 + %d, 1, ?, ?, ?, ?)`, i+1)
	}
	b.WriteString(` ON CONFLICT (stream_id, record_key) DO UPDATE
		SET data = excluded.data, emitted_at = excluded.emitted_at,
		semantic_time = excluded.semantic_time, seq = excluded.seq, version = version + 1,
		changed_at = excluded.changed_at, run_no = excluded.run_no
		WHERE data IS NOT excluded.data`)
	return b.String()
}

// UpsertRecords counts new rows by their ids: a new record gets the highest id plus one, records are never deleted,
// and no one else writes meanwhile.
func (d *dialect) UpsertRecords(
	ctx context.Context, tx *sql.Tx, b sqldialect.RecordBatch,
) (done sqldialect.UpsertCounts, err error) {
	newest := tx.StmtContext(ctx, d.newestID)
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

func (d *dialect) upsert(ctx context.Context, tx *sql.Tx, b sqldialect.RecordBatch) (changed int64, err error) {
	many, single := tx.StmtContext(ctx, d.upsertMany), tx.StmtContext(ctx, d.upsertOne)
	args := make([]any, 0, 4+4*rowsPerStatement)
	for done := 0; done < len(b.Pick); {
		stmt, n := many, rowsPerStatement
		if len(b.Pick)-done < n {
			stmt, n = single, 1
		}
		args = append(args[:0], b.StreamID, b.RunNo, b.ChangedAt, b.BaseSeq+int64(done))
		for _, i := range b.Pick[done : done+n] {
			r := &b.Records[i]
			var data any // NULL for a tombstone
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

func (d *dialect) InList(column string) string {
	return column + ` IN (SELECT value FROM json_each(?))`
}

func (d *dialect) InKeyList(column string) string { return d.InList(column) }

func (d *dialect) ArrayTable() string { return `json_each(?)` }

func (d *dialect) ListArgument(values []string) (any, error) {
	list, err := json.Marshal(values)
	return string(list), err
}

// ListPlaceholder needs no type.
func (d *dialect) ListPlaceholder() string { return `?` }

// HistoryOff is empty: the trigger fires only for changes of data.
func (d *dialect) HistoryOff() string { return "" }

func (d *dialect) HistoryOn() string { return "" }

// ByteOrder returns the expression: SQLite always compares bytes.
func (d *dialect) ByteOrder(_ bool, expression string) string { return expression }

func (d *dialect) PeriodOf(g store.Granularity, micros string) string {
	layout := map[store.Granularity]string{store.ByDay: "%Y-%m-%d", store.ByMonth: "%Y-%m", store.ByYear: "%Y"}[g]
	return `strftime('` + layout + `', floor(` + micros + ` / 86400e6) * 86400, 'unixepoch')`
}

// ExactSum uses sum, which compensates rounding errors.
func (d *dialect) ExactSum(numbers string) string { return `sum(` + numbers + `)` }

// InSubquery uses IN: SQLite looks up each value in the index.
func (d *dialect) InSubquery(column, query string) string { return column + ` IN (` + query + `)` }

// OptimizerFence makes the subquery read only its index. Otherwise the planner does not see that an expression over
// the index needs no record.
func (d *dialect) OptimizerFence() string { return ` LIMIT -1` }

// IndexShare is empty: SQLite has no such statistics, and counting in an index is fast.
func (d *dialect) IndexShare(bool, string) string { return "" }

func (d *dialect) StatementTimeout(time.Duration, bool) string { return "" }

func (d *dialect) IsMissingIndex(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code() == sqlite3.SQLITE_ERROR &&
		strings.Contains(e.Error(), "no such table: "+sqlstore.FieldIndexPrefix)
}

func (d *dialect) IsTimeout(error) bool { return false }

func (d *dialect) IntegrityQuery() string { return `PRAGMA quick_check(3)` }
