package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/keep/store/sqlstore"
)

// The index of a field is a table of its own, with a row for each live record of the stream: its id,
// the value of the key, and its seq. CREATE INDEX would keep every writer out while it reads all
// records of the store, however few of them the stream has, and what is not done in the time that
// others can wait would be lost: in a large store it would never end. A table is begun empty, under
// another name, so that nobody takes it for whole. From then on every commit writes its own records into
// it, and the older ones follow in short transactions, in the order of their numbers; how far that is
// stands among the settings until it is done.
//
// What a commit writes is taken from a view with the definition of the index, so that it holds for
// processes that know another one. This costs a commit less than an index of the expression would, and a commit
// into another stream nothing.

const (
	fieldBegun  = "_begun"    // ends the name of a table that is not whole
	fieldSource = "_source"   // ends the name of the view
	fieldValues = "_by_value" // ends the name of the index of the table
	// reachedMark stands before the name of an index among the settings. The value is the number of
	// the last change that is in it.
	reachedMark = "index reached: "
)

// fieldTables are the tables of a stream's indexes of fields, whose names begin with a text.
const fieldTables = `SELECT name FROM sqlite_schema WHERE type = 'table' AND substr(name, 1, length(?1)) = ?1`

// FieldIndexes takes what an earlier version made by CREATE INDEX on a field for left behind.
func (d *dialect) FieldIndexes() string {
	return `SELECT replace(name, '` + fieldBegun + `', '') AS name, CASE WHEN type = 'table' THEN CASE WHEN name LIKE '%` + fieldBegun + `' THEN 2 ELSE 1 END
			WHEN name LIKE '` + sqlstore.FieldIndexPrefix + `%' THEN 0 ELSE 1 END AS state
		FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'records' OR type = 'table' AND name LIKE '` + sqlstore.FieldIndexPrefix + `%'`
}

func (d *dialect) IndexProgress() string {
	return `SELECT substr(p.name, length('` + reachedMark + `') + 1) AS name, CAST(p.value AS INTEGER) * 100 / max(s.last_seq, 1) FROM settings p
		JOIN streams s ON p.name LIKE '` + reachedMark + sqlstore.FieldIndexPrefix + `' || s.stream_id || '\_%' ESCAPE '\' WHERE p.name > '` + reachedMark + `'`
}

// UsingIndex is needed: without statistics the planner walks the whole stream.
func (d *dialect) UsingIndex(name string) string { return ` INDEXED BY ` + name }

func (d *dialect) FieldTable(index string) string { return index }

// indexFields writes a batch into the indexes of its stream, whole or begun.
func (d *dialect) indexFields(ctx context.Context, tx *sql.Tx, b sqlstore.Batch) error {
	tables, err := tablesOf(ctx, tx.StmtContext(ctx, d.tables), b.StreamID)
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
		_, err := tx.ExecContext(ctx, `DELETE FROM `+table+` WHERE id IN (SELECT id FROM records WHERE stream_id = ? AND seq > ? AND seq <= ? AND data IS NULL)`,
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

// copyFields puts the live records of some numbers into a table, in place of what it has of them.
func copyFields(ctx context.Context, tx *sql.Tx, table string, after, last int64) error {
	source := strings.TrimSuffix(table, fieldBegun) + fieldSource
	_, err := tx.ExecContext(ctx, `INSERT INTO `+table+` (id, value, seq) SELECT id, value, seq FROM `+source+` WHERE seq > ? AND seq <= ?
		ON CONFLICT (id) DO UPDATE SET value = excluded.value, seq = excluded.seq`, after, last)
	return err
}

const (
	// longestBuild is shorter than the patience of writers.
	longestBuild = 8 * time.Second
	// shortMoment is about as long as a commit takes.
	shortMoment = 50 * time.Millisecond
	// Between two looks at the clock a part of an index has so many records, and no more of them than
	// have so many bytes.
	fieldRows  = 200
	fieldBytes = 1 << 20
)

// ChangeIndex changes the schema as any other data: in a transaction, which readers do not
// notice and a crash undoes.
func (d *dialect) ChangeIndex(ctx context.Context, writer *sql.DB, look func(sqlstore.Querier) (sqlstore.IndexChange, error)) (changed bool, err error) {
	tx, err := d.Begin(ctx, writer)
	if err != nil {
		return false, err
	}
	defer tx.Rollback() // does nothing after Commit
	c, err := look(tx)
	switch {
	case err != nil || c == (sqlstore.IndexChange{}):
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

// createIndex makes an index of records at once. Those of fields are made otherwise; this is for a
// store with records that was made before the index was known.
func (d *dialect) createIndex(ctx context.Context, tx *sql.Tx, c sqlstore.IndexChange) error {
	bounded, cancel := context.WithTimeout(ctx, max(d.build, c.Longest))
	defer cancel()
	_, err := tx.ExecContext(bounded, `CREATE INDEX `+c.Make+` ON records (`+c.Columns+`) WHERE `+c.Where)
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		return store.ErrTooLong
	}
	return err
}

func dropIndex(ctx context.Context, tx *sql.Tx, name string) error {
	for _, s := range []string{`DROP INDEX IF EXISTS ` + name, `DROP VIEW IF EXISTS ` + name + fieldSource, `DROP TABLE IF EXISTS ` + name, `DROP TABLE IF EXISTS ` + name + fieldBegun,
		`DELETE FROM settings WHERE name = '` + reachedMark + name + `'`} {
		if _, err := tx.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("drop index %s: %w", name, err)
		}
	}
	return nil
}

// growIndex begins the index of a field, and puts into it what a moment suffices for.
func (d *dialect) growIndex(ctx context.Context, tx *sql.Tx, c sqlstore.IndexChange) error {
	began, table := time.Now(), c.Make+fieldBegun
	for _, s := range []string{
		`CREATE TABLE IF NOT EXISTS ` + table + ` (id INTEGER PRIMARY KEY, value, seq INTEGER NOT NULL)`,
		`CREATE INDEX IF NOT EXISTS ` + c.Make + fieldValues + ` ON ` + table + ` (value, seq)`,
		`CREATE VIEW IF NOT EXISTS ` + c.Make + fieldSource + ` (id, value, seq) AS SELECT id, ` + c.Columns + ` FROM records INDEXED BY records_by_seq WHERE ` + c.Where,
		`INSERT INTO settings (name, value, updated_at) VALUES ('` + reachedMark + c.Make + `', 0, '') ON CONFLICT (name) DO NOTHING`,
	} {
		if _, err := tx.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("begin index %s: %w", c.Make, err)
		}
	}
	var reached int64
	if err := tx.QueryRowContext(ctx, `SELECT CAST(value AS INTEGER) FROM settings WHERE name = ?`, reachedMark+c.Make).Scan(&reached); err != nil {
		return fmt.Errorf("read how far index %s is: %w", c.Make, err)
	}
	for whole := false; !whole; {
		last, end, err := d.nextRows(ctx, tx, c.StreamID, reached)
		if err != nil {
			return fmt.Errorf("find what index %s lacks: %w", c.Make, err)
		}
		if err := copyFields(ctx, tx, table, reached, last); err != nil {
			return fmt.Errorf("fill index %s: %w", c.Make, err)
		}
		if reached, whole = last, end; !whole && time.Since(began) >= d.moment {
			_, err := tx.ExecContext(ctx, `UPDATE settings SET value = ? WHERE name = ?`, reached, reachedMark+c.Make)
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM settings WHERE name = ?`, reachedMark+c.Make); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `ALTER TABLE `+table+` RENAME TO `+c.Make)
	return err
}

// nextRows gives the number of the last of some records that follow one, and whether no others follow.
func (d *dialect) nextRows(ctx context.Context, tx *sql.Tx, streamID, after int64) (last int64, end bool, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT seq, coalesce(octet_length(data), 0) FROM records INDEXED BY records_by_seq WHERE stream_id = ? AND seq > ? ORDER BY seq LIMIT ?`,
		streamID, after, d.rows)
	if err != nil {
		return 0, false, err
	}
	defer rows.Close()
	last = after
	met, bytes := 0, int64(0)
	for ; bytes < fieldBytes && rows.Next(); met++ {
		var size int64
		if err := rows.Scan(&last, &size); err != nil {
			return 0, false, err
		}
		bytes += size
	}
	return last, met < d.rows && bytes < fieldBytes, rows.Err()
}
