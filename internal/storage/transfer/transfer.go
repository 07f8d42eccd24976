// Package transfer copies everything between an embedded database and a PostgreSQL, in either direction, and compares
// both by count and hash. The destination gets all of it or nothing.
//
// Both databases have the same tables and columns, with integers, numbers, texts and bytes. The full-text index is
// derived and not copied; a server makes it again. The queue of jobs is made again as well.
package transfer

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/storage/rowsum"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// Codes of errors.
const (
	CodeNotEmpty = "move_destination_has_data"
	CodeDiffers  = "move_differs"
)

// Database is one side: an open store, and which kind it is.
type Database struct {
	Store    store.Store
	Postgres bool
}

func (d Database) pool() (*sql.DB, error) {
	w, ok := d.Store.(interface{ Writer() *sql.DB })
	if !ok {
		return nil, errors.New("the store has no database of its own")
	}
	return w.Writer(), nil
}

// Part is a table, or the records of one stream, that was copied and compared.
type Part struct {
	Table      string `json:"table"`
	Connection string `json:"connection_id,omitempty"`
	Stream     string `json:"stream,omitempty"`
	Rows       int64  `json:"rows"`
	Hash       string `json:"hash"`
}

// Observer receives how many rows of a table were copied so far. It may be nil.
type Observer func(table string, rows int64)

// table is what both databases have of a table.
type table struct {
	name    string
	columns []string
	kinds   []string // of the embedded database: TEXT, INTEGER, REAL or BLOB
	derived []string // columns that begin again at zero, because what they count is not copied
	stream  int      // the column with the stream; -1: none
}

// notCopied are the tables that are derived, or that belong to one process.
var notCopied = []string{"goose_db_version", "record_search", "sqlite_sequence", "sqlite_stat1", "sqlite_stat4",
	"workers", "store_check"}

// Copy copies everything from one database into another of the other kind, which must be empty, and returns what was
// compared. No process may write to either of them. On an error the destination is as it was.
func Copy(ctx context.Context, from, to Database, tell Observer) (parts []Part, err error) {
	if from.Postgres == to.Postgres {
		return nil, errors.New("both databases are of one kind")
	}
	if err := requireEmpty(ctx, to); err != nil {
		return nil, err
	}
	source, err := openSide(ctx, from, &sql.TxOptions{ReadOnly: from.Postgres, Isolation: isolation(from)})
	if err != nil {
		return nil, err
	}
	defer source.close()
	destination, err := openSide(ctx, to, nil)
	if err != nil {
		return nil, err
	}
	defer destination.close()
	embedded := source
	if from.Postgres {
		embedded = destination
	}
	tables, err := listTables(ctx, embedded.tx)
	if err != nil {
		return nil, err
	}
	if err := destination.prepare(ctx, tables); err != nil {
		return nil, err
	}
	for _, t := range tables {
		sums := tableSums{}
		if err := destination.fill(ctx, t, source, sums, tell); err != nil {
			return nil, fmt.Errorf("copy the table %s: %w", t.name, err)
		}
		written, err := destination.sum(ctx, t)
		if err != nil {
			return nil, fmt.Errorf("compare the table %s: %w", t.name, err)
		}
		if !sums.equal(written) {
			return nil, &usererr.Error{Code: CodeDiffers, Message: "what was written of the table " + t.name +
				" is not what was read", Next: "Nothing was changed. Report this as a fault of the program."}
		}
		parts = append(parts, sums.parts(t)...)
	}
	if err := source.continueNumbers(ctx, destination, tables); err != nil {
		return nil, err
	}
	if err := nameStreams(ctx, destination.tx, parts); err != nil {
		return nil, err
	}
	return parts, destination.tx.Commit()
}

func isolation(d Database) sql.IsolationLevel {
	if d.Postgres {
		return sql.LevelRepeatableRead
	}
	return sql.LevelDefault
}

func requireEmpty(ctx context.Context, to Database) error {
	all, err := to.Store.ListConnections(ctx)
	if err != nil {
		return err
	}
	if len(all) > 0 {
		return &usererr.Error{Code: CodeNotEmpty, Message: "the destination has data already",
			Next: "Name an empty database or folder."}
	}
	return nil
}

// side is one database in a transaction.
type side struct {
	postgres bool
	conn     *sql.Conn
	tx       *sql.Tx
}

func openSide(ctx context.Context, d Database, options *sql.TxOptions) (*side, error) {
	pool, err := d.pool()
	if err != nil {
		return nil, err
	}
	conn, err := pool.Conn(ctx)
	if err != nil {
		return nil, err
	}
	tx, err := conn.BeginTx(ctx, options)
	if err == nil && d.Postgres {
		_, err = tx.ExecContext(ctx, `SET LOCAL idle_in_transaction_session_timeout = 0`)
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return &side{d.Postgres, conn, tx}, nil
}

// close ends the transaction; without a commit nothing of it remains.
func (s *side) close() {
	_ = s.tx.Rollback()
	_ = s.conn.Close()
}

// listTables returns the tables to copy, each after those that it refers to.
func listTables(ctx context.Context, embedded *sql.Tx) (all []table, err error) {
	rows, err := embedded.QueryContext(ctx, `SELECT t.name, c.name, upper(c.type), c.hidden FROM sqlite_schema t,
		pragma_table_xinfo(t.name) c WHERE t.type = 'table' AND t.sql NOT LIKE 'CREATE VIRTUAL%' AND
		t.name NOT LIKE 'record_search\_%' ESCAPE '\' AND t.name NOT LIKE 'river\_%' ESCAPE '\' ORDER BY t.rowid, c.cid`)
	if err != nil {
		return nil, fmt.Errorf("list the tables: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var name, column, kind string
		var hidden int
		if err := rows.Scan(&name, &column, &kind, &hidden); err != nil {
			return nil, fmt.Errorf("list the tables: %w", err)
		}
		if hidden != 0 || slices.Contains(notCopied, name) {
			continue
		}
		if len(all) == 0 || all[len(all)-1].name != name {
			all = append(all, table{name: name, stream: -1})
		}
		t := &all[len(all)-1]
		if name == "records" && column == "stream_id" {
			t.stream = len(t.columns)
		}
		if name == "streams" && column == "search_seq" {
			t.derived = append(t.derived, column)
		}
		t.columns, t.kinds = append(t.columns, column), append(t.kinds, kind)
	}
	return all, rows.Err()
}

// prepare removes the rows that a new database has, and lets rows be inserted in any order.
func (s *side) prepare(ctx context.Context, tables []table) error {
	if !s.postgres {
		if _, err := s.tx.ExecContext(ctx, `PRAGMA defer_foreign_keys = 1`); err != nil {
			return err
		}
	}
	for _, t := range slices.Backward(tables) {
		var rows int64
		if err := s.tx.QueryRowContext(ctx, `SELECT count(*) FROM `+t.name).Scan(&rows); err != nil {
			return fmt.Errorf("look at the table %s: %w", t.name, err)
		}
		if rows == 0 {
			continue
		}
		if _, err := s.tx.ExecContext(ctx, `DELETE FROM `+t.name); err != nil {
			return fmt.Errorf("empty the table %s: %w", t.name, err)
		}
	}
	return nil
}

// query returns the rows of a table.
func (s *side) query(ctx context.Context, t table) (*rowReader, error) {
	rows, err := s.tx.QueryContext(ctx, `SELECT `+strings.Join(t.columns, ", ")+` FROM `+t.name)
	if err != nil {
		return nil, err
	}
	r := &rowReader{table: t, rows: rows, values: make([]any, len(t.columns)), into: make([]any, len(t.columns))}
	for i := range r.values {
		r.into[i] = &r.values[i]
	}
	return r, nil
}

// rowReader reads the rows of a table and sums them. It implements pgx.CopyFromSource.
type rowReader struct {
	table  table
	rows   *sql.Rows
	values []any
	into   []any
	sums   tableSums
	tell   Observer
	read   int64
	err    error
}

// Next reads a row.
func (r *rowReader) Next() bool {
	if r.err != nil || !r.rows.Next() {
		return false
	}
	if r.err = r.rows.Scan(r.into...); r.err != nil {
		return false
	}
	for i, kind := range r.table.kinds {
		if r.values[i], r.err = convert(r.values[i], kind); r.err != nil {
			return false
		}
		if slices.Contains(r.table.derived, r.table.columns[i]) {
			r.values[i] = int64(0)
		}
	}
	if r.err = r.sums.add(r.table, r.values); r.err != nil {
		return false
	}
	if r.read++; r.tell != nil && r.read%10_000 == 0 {
		r.tell(r.table.name, r.read)
	}
	return true
}

// Values returns the row.
func (r *rowReader) Values() ([]any, error) { return r.values, nil }

// Err returns the error that ended the rows.
func (r *rowReader) Err() error { return errors.Join(r.err, r.rows.Err()) }

// convert returns a value as its column holds it in both databases. SQLite stores any value, PostgreSQL does not.
func convert(value any, kind string) (any, error) {
	switch v := value.(type) {
	case []byte:
		if kind == "TEXT" {
			return string(v), nil
		}
	case string:
		if kind == "BLOB" {
			return []byte(v), nil
		}
	case int64:
		if kind == "REAL" {
			return float64(v), nil
		}
	case nil, float64:
	default:
		return nil, fmt.Errorf("a value of type %T cannot be copied", value)
	}
	return value, nil
}

// fill copies the rows of a table from the other side and sums what it read.
func (s *side) fill(ctx context.Context, t table, from *side, sums tableSums, tell Observer) error {
	r, err := from.query(ctx, t)
	if err != nil {
		return err
	}
	defer r.rows.Close()
	r.sums, r.tell = sums, tell
	if s.postgres {
		err = s.conn.Raw(func(driver any) error {
			_, err := driver.(*stdlib.Conn).Conn().CopyFrom(ctx, pgx.Identifier{t.name}, t.columns, r)
			return err
		})
	} else {
		err = s.insert(ctx, t, r)
	}
	if tell != nil {
		tell(t.name, r.read)
	}
	return errors.Join(err, r.Err())
}

func (s *side) insert(ctx context.Context, t table, r *rowReader) error {
	marks := strings.TrimSuffix(strings.Repeat("?, ", len(t.columns)), ", ")
	statement, err := s.tx.PrepareContext(ctx,
		`INSERT INTO `+t.name+` (`+strings.Join(t.columns, ", ")+`) VALUES (`+marks+`)`)
	if err != nil {
		return err
	}
	defer statement.Close()
	for r.Next() {
		if _, err := statement.ExecContext(ctx, r.values...); err != nil {
			return err
		}
	}
	return nil
}

// sum reads a table back.
func (s *side) sum(ctx context.Context, t table) (tableSums, error) {
	r, err := s.query(ctx, t)
	if err != nil {
		return nil, err
	}
	defer r.rows.Close()
	r.sums = tableSums{}
	for r.Next() {
	}
	return r.sums, r.Err()
}

// tableSums are the sums of a table, or of each stream in it.
type tableSums map[int64]*rowsum.Sum

func (s tableSums) add(t table, row []any) error {
	of := int64(0)
	if t.stream >= 0 {
		of, _ = row[t.stream].(int64)
	}
	if s[of] == nil {
		s[of] = &rowsum.Sum{}
	}
	return s[of].Add(row)
}

func (s tableSums) equal(other tableSums) bool {
	if len(s) != len(other) {
		return false
	}
	for of, sum := range s {
		if other[of] == nil || other[of].Rows != sum.Rows || other[of].Hash() != sum.Hash() {
			return false
		}
	}
	return true
}

func (s tableSums) parts(t table) (all []Part) {
	for of, sum := range s {
		p := Part{Table: t.name, Rows: sum.Rows, Hash: sum.Hash()}
		if t.stream >= 0 {
			p.Stream = fmt.Sprint(of) // its name follows
		}
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b Part) int { return strings.Compare(a.Stream, b.Stream) })
	return all
}

// nameStreams replaces the numbers of streams in the parts by their names.
func nameStreams(ctx context.Context, tx *sql.Tx, parts []Part) error {
	rows, err := tx.QueryContext(ctx, `SELECT stream_id, connection_id, name FROM streams`)
	if err != nil {
		return err
	}
	defer rows.Close()
	names := map[string][2]string{}
	for rows.Next() {
		var id int64
		var connection, name string
		if err := rows.Scan(&id, &connection, &name); err != nil {
			return err
		}
		names[fmt.Sprint(id)] = [2]string{connection, name}
	}
	for i, p := range parts {
		if name, ok := names[p.Stream]; ok && p.Stream != "" {
			parts[i].Connection, parts[i].Stream = name[0], name[1]
		}
	}
	return rows.Err()
}
