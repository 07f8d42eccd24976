package outbox

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

const (
	// pollTime is how long SQLite itself waits for another writer. Its waits
	// grow, and a process that commits without a pause would keep another out;
	// many short ones find the moment between two commits.
	pollTime = 5 * time.Millisecond
	// patience is how long a writer waits for others in all.
	patience = 10 * time.Second
)

// write does work in one transaction. It is durable when write returns nil.
func (o *Outbox) write(ctx context.Context, work func(tx *sql.Tx) error) error {
	var tx *sql.Tx
	err := patiently(ctx, func() (err error) {
		tx, err = o.db.BeginTx(ctx, nil)
		return err
	})
	if err != nil {
		return err
	}
	defer tx.Rollback() // does nothing after Commit
	if err := work(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// patiently tries again while another process holds the file.
func patiently(ctx context.Context, try func() error) error {
	for deadline := time.Now().Add(patience); ; {
		err := try()
		if !busy(err) || !time.Now().Before(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Millisecond): // some refusals come without any wait
		}
	}
}

func busy(err error) bool { return is(err, sqlite3.SQLITE_BUSY) }

// is reports whether an error is SQLite's of that primary code.
func is(err error, code int) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == code
}

// collect reads all rows of a query.
func collect[T any](rows *sql.Rows, err error, scan func(*sql.Rows) (T, error)) ([]T, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}

func micros(t time.Time) int64 { return t.UnixMicro() }

func moment(us int64) time.Time { return time.UnixMicro(us).UTC() }
