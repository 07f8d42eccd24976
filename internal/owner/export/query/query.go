// Package query answers statements of SQL over a copy of the records that may be read. The copy is a temporary SQLite
// file, and a statement can do nothing but read it.
package query

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/export"
)

// ErrNotRead means that a text is not one statement that reads.
var ErrNotRead = errors.New("only one statement that reads is allowed, such as SELECT")

// Bounds bound an answer.
type Bounds struct {
	Rows int           // further rows are left out
	Time time.Duration // of the statement, once the records are copied
}

// RowSet is what a statement returned.
type RowSet struct {
	Columns []string
	Rows    [][]any // nil, int64, float64, string or []byte
	More    bool    // there are more rows
}

// Engine limits: the longest value, and no attached database, which VACUUM INTO needs as well.
var engineLimits = map[int]int{
	sqlite3.SQLITE_LIMIT_LENGTH: 64 << 20, sqlite3.SQLITE_LIMIT_ATTACHED: 0, sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
	sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 1000, sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 200,
}

// Run copies the streams that the statement names, and answers it. The streams are all that exists for it. An error of
// the statement is an *sqlite.Error, ErrNotRead or context.DeadlineExceeded.
func Run(ctx context.Context, job export.Job, streams []api.Stream, statement string, limit Bounds) (a RowSet,
	err error) {
	folder, err := os.MkdirTemp("", "pdpp-sql-") // mode 0700
	if err != nil {
		return a, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	file := filepath.Join(folder, "records.sqlite")
	job.Format, _ = export.FindFormat("sqlite")
	text := strings.ToLower(statement)
	job.Skip = func(s *api.Stream) bool { // there is no other way to name a table than its name
		return !strings.Contains(text, strings.ToLower(s.Name)) && !strings.ContainsAny(s.Name, "\"`]")
	}
	if err := export.CreateFile(file, func(to io.Writer) error {
		_, err := job.Write(ctx, to, streams)
		return err
	}); err != nil {
		return a, err
	}
	db, conn, err := open(ctx, file)
	if err != nil {
		return a, err
	}
	defer db.Close()
	defer conn.Close()
	ctx, cancel := context.WithTimeout(ctx, limit.Time)
	defer cancel()
	return read(ctx, conn, statement, limit.Rows)
}

// open returns a connection that cannot write, not even with a statement that read would refuse.
func open(ctx context.Context, file string) (db *sql.DB, conn *sql.Conn, err error) {
	place := url.URL{Scheme: "file", Opaque: (&url.URL{Path: file}).EscapedPath(), RawQuery: "mode=ro&immutable=1" +
		"&_defensive=1&_dqs=0&_pragma=query_only(1)&_pragma=trusted_schema(0)"}
	db, err = sql.Open("sqlite", place.String())
	if err != nil {
		return nil, nil, err
	}
	conn, err = db.Conn(ctx)
	for id, to := range engineLimits {
		if err == nil {
			_, err = sqlite.Limit(conn, id, to)
		}
	}
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return db, conn, nil
}

// read answers a statement. The statement becomes a table of another one, where the grammar allows nothing but reading.
// A column behind it with a name that nobody can guess shows that no part of the text ended the other one. As the table
// is complete before its first row is returned, the end of the context interrupts all of the work.
func read(ctx context.Context, conn *sql.Conn, statement string, most int) (a RowSet, err error) {
	end := "end_" + rand.Text()
	wrapped := fmt.Sprintf("WITH answer AS MATERIALIZED (SELECT * FROM (\n%s\n) LIMIT %d) SELECT *, 0 AS %s FROM answer",
		strings.TrimRight(statement, "; \t\r\n"), most+1, end)
	err = conn.Raw(func(driver any) error {
		columns, err := driver.(interface {
			ColumnInfo(statement string) ([]sqlite.ColumnInfo, error)
		}).ColumnInfo(wrapped)
		if err == nil && (len(columns) == 0 || columns[len(columns)-1].Name != end) ||
			err != nil && strings.Contains(err.Error(), end) {
			err = ErrNotRead
		}
		return err
	})
	if err != nil {
		return a, err
	}
	rows, err := conn.QueryContext(ctx, wrapped)
	if err != nil {
		return a, err
	}
	defer rows.Close()
	if a.Columns, err = rows.Columns(); err != nil {
		return a, err
	}
	a.Columns = a.Columns[:len(a.Columns)-1]
	for rows.Next() {
		if len(a.Rows) == most {
			a.More = true
			break
		}
		row := make([]any, len(a.Columns)+1)
		targets := make([]any, len(row))
		for i := range row {
			targets[i] = &row[i]
		}
		if err := rows.Scan(targets...); err != nil {
			return a, err
		}
		a.Rows = append(a.Rows, row[:len(a.Columns)])
	}
	return a, rows.Err()
}
