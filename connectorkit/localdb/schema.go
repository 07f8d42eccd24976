package localdb

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"

	"github.com/go-json-experiment/json"
)

// Schema is which tables a database has, and which columns they have: programs of different
// ages keep different ones.
type Schema map[string]map[string]bool

// ReadSchema looks for tables.
func ReadSchema(ctx context.Context, db *sql.DB, tables ...string) (Schema, error) {
	s := Schema{}
	for _, table := range tables {
		columns, err := Columns(ctx, db, table)
		if err != nil {
			return nil, err
		}
		s[table] = columns
	}
	return s, nil
}

// SchemaSample compares schemas with what a connector knows of them.
type SchemaSample interface {
	Due() bool
	Tables(map[string]map[string]string)
}

// CompareSchema hands the schema of a database to a sample: the declared types of columns, by table and column.
// Tables that SQLite and its modules for searching keep for themselves are left out.
func CompareSchema(ctx context.Context, db *sql.DB, with SchemaSample) error {
	if !with.Due() {
		return nil
	}
	tables := map[string]map[string]string{}
	err := Query(ctx, db, func(v []any) {
		table := ValueText(v[0])
		if tables[table] == nil {
			tables[table] = map[string]string{}
		}
		tables[table][ValueText(v[1])] = ValueText(v[2])
	}, `SELECT m.name, c.name, c.type FROM sqlite_master m JOIN pragma_table_info(m.name) c
		WHERE m.type = 'table' AND instr(m.name, 'sqlite_') <> 1 AND NOT EXISTS (SELECT 1 FROM sqlite_master v
			WHERE v.sql LIKE 'CREATE VIRTUAL%' AND (v.name = m.name OR instr(m.name, v.name || '_') = 1))`)
	if err != nil {
		return fmt.Errorf("read schema: %w", err)
	}
	with.Tables(tables)
	return nil
}

// Has reports whether a table has a column.
func (s Schema) Has(table, column string) bool { return s[table][column] }

// Column is a column in a query, or NULL where the table has none of the name.
func (s Schema) Column(table, alias, name string) string {
	if s.Has(table, name) {
		return alias + "." + name
	}
	return "NULL"
}

// Query hands over every row of a query, its columns as they are.
func Query(ctx context.Context, db *sql.DB, take func(values []any), text string, args ...any) error {
	rows, err := db.QueryContext(ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		values, err := Values(rows)
		if err != nil {
			return err
		}
		take(values)
	}
	return rows.Err()
}

// Values are the columns of a row as they are.
func Values(rows *sql.Rows) ([]any, error) {
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	values, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	return values, rows.Scan(into...)
}

// Digest returns a hash that changes when a list of records changes.
func Digest(list []Record) (string, error) {
	h := sha256.New()
	for _, rec := range list {
		b, err := json.Marshal(rec, json.Deterministic(true))
		if err != nil {
			return "", fmt.Errorf("encode a record: %w", err)
		}
		_, _ = fmt.Fprintf(h, "%d %s\n", len(b), b)
	}
	return hex.EncodeToString(h.Sum(nil)[:12]), nil
}
