package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// lockPollTime is how long SQLite itself waits for another writer. Its own waits grow to a tenth of a second, and
// then a process that commits continuously would exclude all others. Many short waits find the moment between two
// commits.
const lockPollTime = 5 * time.Millisecond

// BeginWrite starts a write transaction once no other process has one.
func (d *dialect) BeginWrite(ctx context.Context, writer *sql.DB) (tx *sql.Tx, err error) {
	err = d.retryWhileLocked(ctx, func() error {
		tx, err = writer.BeginTx(ctx, nil)
		return err
	})
	return tx, err
}

// retryWhileLocked retries until the busy timeout while another process holds the lock.
func (d *dialect) retryWhileLocked(ctx context.Context, try func() error) error {
	for deadline := time.Now().Add(d.busyTimeout); ; {
		err := try()
		if !isBusyError(err) || !time.Now().Before(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Millisecond): // some errors come without any wait
		}
	}
}

func isBusyError(err error) bool {
	var e *sqlite.Error
	return errors.Is(err, errLogInUse) || errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_BUSY
}
