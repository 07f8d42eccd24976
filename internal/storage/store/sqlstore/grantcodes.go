package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// grantCode is the state of a request's code.
type grantCode struct {
	expiresAt time.Time
	spentAt   *time.Time
}

// RedeemCode locks the request of the code, so that the later of two concurrent calls finds it used.
func (db *DB) RedeemCode(
	ctx context.Context, codeHash, tokenHash []byte, check func(store.GrantRequest) error, now time.Time,
) (g store.Grant, err error) {
	replayed := false
	err = db.write(ctx, func(tx *tx) error {
		r, c, err := tx.lockCode(codeHash)
		if err != nil {
			return err
		}
		if c.spentAt == nil && !storedTime(now).Before(c.expiresAt) {
			return store.ErrNotFound
		}
		if err := check(r); err != nil {
			return err
		}
		if replayed = c.spentAt != nil; replayed {
			return requireChange(tx.exec(revokeGrantQuery, formatTime(now), r.GrantID))
		}
		if _, err := tx.exec(`UPDATE grant_requests SET code_spent_at = ? WHERE request_id = ?`, formatTime(now),
			r.ID); err != nil {
			return err
		}
		if err := tx.insertGrantToken(r.GrantID, tokenHash); err != nil {
			return err
		}
		g, err = scanGrant(tx.row(`SELECT `+grantColumns+` FROM grants g WHERE g.grant_id = ?`, r.GrantID))
		return err
	})
	if err == nil && replayed {
		err = store.ErrExists // the revocation is committed
	}
	if err != nil {
		return store.Grant{}, fmt.Errorf("redeem code: %w", err)
	}
	return g, nil
}

func (t *tx) lockCode(hash []byte) (r store.GrantRequest, c grantCode, err error) {
	r, err = scanGrantRequest(t.row(`SELECT `+grantRequestColumns+`, code_expires_at, code_spent_at FROM grant_requests
		WHERE code_hash = ?`+t.db.dialect.ForUpdate(), nonNilBytes(hash)), intoTime(&c.expiresAt), intoTimePtr(&c.spentAt))
	if errors.Is(err, sql.ErrNoRows) {
		err = store.ErrNotFound
	}
	return r, c, err
}
