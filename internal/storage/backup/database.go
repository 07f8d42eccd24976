package backup

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Counts is what a database contained, for the owner to compare.
type Counts struct {
	Connections int64 `json:"connections"`
	Records     int64 `json:"records"`
	Runs        int64 `json:"runs"`
}

func openReadOnly(path string, busyMS int) (*sql.DB, error) {
	q := url.Values{"_pragma": {fmt.Sprintf("busy_timeout(%d)", busyMS), "cache_size(-8192)"}}
	db, err := sql.Open("sqlite",
		(&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: q.Encode()}).String())
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

// copyDatabase writes a consistent copy to a new file while others may write to the database.
func copyDatabase(ctx context.Context, from, to string) (err error) {
	db, err := openReadOnly(from, 10_000)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.ExecContext(ctx, `VACUUM INTO ?`, to); err != nil {
		return fmt.Errorf("copy the database: %w", err)
	}
	return nil
}

// maxReportedFaults bounds how many faults of a damaged database are reported.
const maxReportedFaults = 3

// inspectDatabase checks every page and index of a database, and counts its content.
func inspectDatabase(ctx context.Context, path string) (schema int64, counts Counts, err error) {
	db, err := openReadOnly(path, 10_000)
	if err != nil {
		return 0, counts, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := checkIntegrity(ctx, db); err != nil {
		return 0, counts, err
	}
	for query, to := range map[string]*int64{
		`SELECT coalesce(max(version_id), 0) FROM goose_db_version`: &schema,
		`SELECT count(*) FROM connections`:                          &counts.Connections,
		`SELECT count(*) FROM records`:                              &counts.Records,
		`SELECT count(*) FROM run_history`:                          &counts.Runs,
	} {
		if err := db.QueryRowContext(ctx, query).Scan(to); err != nil {
			return 0, counts, fmt.Errorf("count what is in the database: %w", err)
		}
	}
	return schema, counts, nil
}

// referencedBlobs returns the hashes of files with a row in the database. A database of an older schema has none.
func referencedBlobs(ctx context.Context, path string) (hashes []string, err error) {
	db, err := openReadOnly(path, 10_000)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var there int
	if err := db.QueryRowContext(ctx,
		`SELECT count(*) FROM sqlite_schema WHERE name = 'blobs'`).Scan(&there); err != nil || there == 0 {
		return nil, err
	}
	rows, err := db.QueryContext(ctx, `SELECT sha256 FROM blobs ORDER BY sha256`)
	if err != nil {
		return nil, fmt.Errorf("list the files of records: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var hash string
		if err := rows.Scan(&hash); err != nil {
			return nil, fmt.Errorf("list the files of records: %w", err)
		}
		hashes = append(hashes, hash)
	}
	return hashes, rows.Err()
}

func checkIntegrity(ctx context.Context, db *sql.DB) error {
	rows, err := db.QueryContext(ctx, fmt.Sprintf(`PRAGMA integrity_check(%d)`, maxReportedFaults))
	if err != nil {
		return fmt.Errorf("check the database: %w", err)
	}
	defer rows.Close()
	var faults []string
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return fmt.Errorf("check the database: %w", err)
		}
		if line != "ok" {
			faults = append(faults, line)
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("check the database: %w", err)
	}
	if len(faults) > 0 {
		return fmt.Errorf("the database is damaged: %s", strings.Join(faults, "; "))
	}
	return nil
}

// isDatabaseInUse reports whether another process has the database open. A damaged or foreign file is not in use, so
// that a restore can replace it.
func isDatabaseInUse(ctx context.Context, path string) (bool, error) {
	db, err := openReadOnly(path, 0)
	if err != nil {
		return false, err
	}
	defer db.Close()
	// Leaving WAL mode requires exclusive access.
	_, err = db.ExecContext(ctx, `PRAGMA journal_mode = DELETE`)
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false, ctx.Err()
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return true, nil
	default:
		return false, nil
	}
}
