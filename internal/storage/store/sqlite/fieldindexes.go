package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/sqldialect"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore"
)

// A field index is a separate table with a row for each live record of the stream: its id, key and seq. CREATE INDEX
// would block all writers while it reads all records of the store, and an interrupted build would be lost: in a large
// store it would never end.
//
// The table starts empty, under another name, so that no one uses it before it is complete. From then on every commit
// writes its own records into it. Older records follow in short transactions, in the order of their sequence; a
// setting stores the progress.
//
// Commits read the values from a view with the definition of the index, so that processes of other versions write the
// right values. This costs a commit less than an index on an expression, and commits to other streams nothing.

const (
	unfinishedSuffix = "_begun"    // suffix of an incomplete table
	viewSuffix       = "_source"   // suffix of the view
	valueIndexSuffix = "_by_value" // suffix of the table's index on values
	// progressSetting is the prefix of the setting with the last sequence number in an index; the name of the index
	// follows.
	progressSetting = "index reached: "
)

// fieldTableQuery selects the field index tables of a stream by the prefix of their names.
const fieldTableQuery = `SELECT name FROM sqlite_schema WHERE type = 'table' AND substr(name, 1, length(?1)) = ?1`

// FieldIndexQuery reports indexes that an earlier version made with CREATE INDEX as unusable.
func (d *dialect) FieldIndexQuery() string {
	return `SELECT replace(name, '` + unfinishedSuffix +
		`', '') AS name, CASE WHEN type = 'table' THEN CASE WHEN name LIKE '%` + unfinishedSuffix + `' THEN 2 ELSE 1 END
			WHEN name LIKE '` + sqlstore.FieldIndexPrefix + `%' THEN 0 ELSE 1 END AS state
		FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'records' OR type = 'table' AND name LIKE '` +
		sqlstore.FieldIndexPrefix + `%'`
}

func (d *dialect) IndexProgressQuery() string {
	return `SELECT substr(p.name, length('` + progressSetting +
		`') + 1) AS name, CAST(p.value AS INTEGER) * 100 / max(s.last_seq, 1) FROM settings p
		JOIN streams s ON p.name LIKE '` + progressSetting + sqlstore.FieldIndexPrefix +
		`' || s.stream_id || '\_%' ESCAPE '\' WHERE p.name > '` + progressSetting + `'`
}

// UsingIndex is required: without statistics the planner scans the whole stream.
func (d *dialect) UsingIndex(name string) string { return ` INDEXED BY ` + name }

func (d *dialect) FieldTable(index string) string { return index }

// indexFields writes a batch into the field indexes of its stream, including incomplete ones.
func (d *dialect) indexFields(ctx context.Context, tx *sql.Tx, b sqldialect.RecordBatch) error {
	tables, err := tablesOf(ctx, tx.StmtContext(ctx, d.fieldTables), b.StreamID)
	if err != nil || len(tables) == 0 {
		return err
	}
	deleted := false
	for _, i := range b.Pick {
		deleted = deleted || b.Records[i].Deleted()
	}
	last := b.BaseSeq + int64(len(b.Pick))
	for _, table := range tables {
		if err := copyFields(ctx, tx, table, b.BaseSeq, last); err != nil {
			return err
		}
		if !deleted {
			continue
		}
		_, err := tx.ExecContext(ctx,
			`DELETE FROM `+table+` WHERE id IN (SELECT id FROM records WHERE stream_id = ? AND seq > ? AND seq <= ?
				AND data IS NULL)`,
			b.StreamID, b.BaseSeq, last)
		if err != nil {
			return err
		}
	}
	return nil
}

func tablesOf(ctx context.Context, list *sql.Stmt, streamID int64) (tables []string, err error) {
	rows, err := list.QueryContext(ctx, sqlstore.FieldIndexPrefix+strconv.FormatInt(streamID, 10)+"_")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		tables = append(tables, name)
	}
	return tables, rows.Err()
}

// copyFields replaces the rows of a range of sequence numbers in a table.
func copyFields(ctx context.Context, tx *sql.Tx, table string, after, last int64) error {
	source := strings.TrimSuffix(table, unfinishedSuffix) + viewSuffix
	_, err := tx.ExecContext(ctx, `INSERT INTO `+table+` (id, value, seq) SELECT id, value, seq FROM `+source+`
		WHERE seq > ? AND seq <= ?
		ON CONFLICT (id) DO UPDATE SET value = excluded.value, seq = excluded.seq`, after, last)
	return err
}

const (
	// defaultMaxBuildTime is shorter than the busy timeout of writers.
	defaultMaxBuildTime = 8 * time.Second
	// defaultFieldStepTime is about the time of a commit.
	defaultFieldStepTime = 50 * time.Millisecond
	// Between two checks of the time, a step reads at most this many records and bytes.
	defaultFieldStepRows = 200
	fieldStepBytes       = 1 << 20
)

// ChangeIndex changes the schema in a transaction, which readers do not notice and a crash undoes.
func (d *dialect) ChangeIndex(
	ctx context.Context, writer *sql.DB, look func(sqldialect.Querier) (sqldialect.IndexChange, error),
) (changed bool, err error) {
	tx, err := d.BeginWrite(ctx, writer)
	if err != nil {
		return false, err
	}
	defer tx.Rollback() // does nothing after Commit
	c, err := look(tx)
	switch {
	case err != nil || c == (sqldialect.IndexChange{}):
		return false, err
	case c.Drop != "":
		err = dropIndex(ctx, tx, c.Drop)
	case c.StreamID != 0:
		err = d.growIndex(ctx, tx, c)
	default:
		err = d.createIndex(ctx, tx, c)
	}
	if err != nil {
		return false, err
	}
	return true, tx.Commit()
}

// createIndex builds an index on records at once. It serves databases from before that index existed.
func (d *dialect) createIndex(ctx context.Context, tx *sql.Tx, c sqldialect.IndexChange) error {
	bounded, cancel := context.WithTimeout(ctx, max(d.maxBuildTime, c.Longest))
	defer cancel()
	_, err := tx.ExecContext(bounded, `CREATE INDEX `+c.Make+` ON records (`+c.Columns+`) WHERE `+c.Where)
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		return store.ErrTooLong
	}
	return err
}

func dropIndex(ctx context.Context, tx *sql.Tx, name string) error {
	for _, s := range []string{`DROP INDEX IF EXISTS ` + name, `DROP VIEW IF EXISTS ` + name + viewSuffix,
		`DROP TABLE IF EXISTS ` + name, `DROP TABLE IF EXISTS ` + name + unfinishedSuffix,
		`DELETE FROM settings WHERE name = '` + progressSetting + name + `'`} {
		if _, err := tx.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("drop index %s: %w", name, err)
		}
	}
	return nil
}

// growIndex starts a field index and fills it for the time of one step.
func (d *dialect) growIndex(ctx context.Context, tx *sql.Tx, c sqldialect.IndexChange) error {
	began, table := time.Now(), c.Make+unfinishedSuffix
	for _, s := range []string{
		`CREATE TABLE IF NOT EXISTS ` + table + ` (id INTEGER PRIMARY KEY, value, seq INTEGER NOT NULL)`,
		`CREATE INDEX IF NOT EXISTS ` + c.Make + valueIndexSuffix + ` ON ` + table + ` (value, seq)`,
		`CREATE VIEW IF NOT EXISTS ` + c.Make + viewSuffix + ` (id, value, seq) AS SELECT id, ` + c.Columns +
			` FROM records INDEXED BY records_by_seq WHERE ` + c.Where,
		`INSERT INTO settings (name, value, updated_at) VALUES ('` + progressSetting + c.Make +
			`', 0, '') ON CONFLICT (name) DO NOTHING`,
	} {
		if _, err := tx.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("begin index %s: %w", c.Make, err)
		}
	}
	var reached int64
	if err := tx.QueryRowContext(ctx, `SELECT CAST(value AS INTEGER) FROM settings WHERE name = ?`,
		progressSetting+c.Make).Scan(&reached); err != nil {
		return fmt.Errorf("read the progress of index %s: %w", c.Make, err)
	}
	for whole := false; !whole; {
		last, end, err := d.nextFieldStep(ctx, tx, c.StreamID, reached)
		if err != nil {
			return fmt.Errorf("find what index %s is missing: %w", c.Make, err)
		}
		if err := copyFields(ctx, tx, table, reached, last); err != nil {
			return fmt.Errorf("fill index %s: %w", c.Make, err)
		}
		if reached, whole = last, end; !whole && time.Since(began) >= d.fieldStepTime {
			_, err := tx.ExecContext(ctx, `UPDATE settings SET value = ? WHERE name = ?`, reached, progressSetting+c.Make)
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM settings WHERE name = ?`, progressSetting+c.Make); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `ALTER TABLE `+table+` RENAME TO `+c.Make)
	return err
}

// nextFieldStep returns the last sequence number of the next step, and whether no records follow it.
func (d *dialect) nextFieldStep(
	ctx context.Context, tx *sql.Tx, streamID, after int64,
) (last int64, end bool, err error) {
	rows, err := tx.QueryContext(ctx,
		`SELECT seq, coalesce(octet_length(data), 0) FROM records INDEXED BY records_by_seq WHERE stream_id = ? AND seq > ?
			ORDER BY seq LIMIT ?`,
		streamID, after, d.fieldStepRows)
	if err != nil {
		return 0, false, err
	}
	defer rows.Close()
	last = after
	met, bytes := 0, int64(0)
	for ; bytes < fieldStepBytes && rows.Next(); met++ {
		var size int64
		if err := rows.Scan(&last, &size); err != nil {
			return 0, false, err
		}
		bytes += size
	}
	return last, met < d.fieldStepRows && bytes < fieldStepBytes, rows.Err()
}
