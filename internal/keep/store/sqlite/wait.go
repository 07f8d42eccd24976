package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// pollTime is how long SQLite itself waits for another writer. Its own waiting
// grows to a tenth of a second between two looks at the lock, and then a
// process that commits without a pause keeps all others out for good. Many
// short waits find the moment between two commits.
const pollTime = 5 * time.Millisecond

// Begin starts a write transaction once no other process has one.
func (d *dialect) Begin(ctx context.Context, writer *sql.DB) (tx *sql.Tx, err error) {
	err = d.patiently(ctx, func() error {
		tx, err = writer.BeginTx(ctx, nil)
		return err
	})
	return tx, err
}

// patiently tries again, for as long as the store's patience lasts, while another process holds the lock.
func (d *dialect) patiently(ctx context.Context, try func() error) error {
	for deadline := time.Now().Add(d.patience); ; {
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

func busy(err error) bool {
	var e *sqlite.Error
	return errors.Is(err, errLogInUse) || errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_BUSY
}
