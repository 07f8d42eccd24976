package sqlstore

import (
	"context"
	"errors"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

const credentialColumns = `connection_id, credential_kind, sealed_secret, fingerprint, status, captured_at, rejected_at,
	rejection_reason,
	generation, renewable, token_expires_at, refresh_unanswered, refresh_failures, refresh_failing_since, refresh_next_at`

// refreshResetSet clears the refresh state of a credential.
const refreshResetSet = `refresh_begun_until = NULL, refresh_unanswered = 0, refresh_failures = 0,
	refresh_failing_since = NULL, refresh_next_at = NULL`

func scanCredential(s scanner) (c store.Credential, err error) {
	err = s.Scan(&c.ConnectionID, &c.Kind, &c.Sealed, &c.Fingerprint, &c.Status, intoTime(&c.CapturedAt),
		intoTimePtr(&c.RejectedAt), &c.RejectionReason,
		&c.Generation, &c.Refresh.Renewable, intoTimePtr(&c.Refresh.ExpiresAt), &c.Refresh.Unanswered, &c.Refresh.Failures,
		intoTimePtr(&c.Refresh.FailingSince), intoTimePtr(&c.Refresh.NextAt))
	return c, err
}

func (db *DB) BeginRefresh(
	ctx context.Context, connectionID string, generation int64, until, now time.Time,
) (c store.Credential, err error) {
	err = db.write(ctx, func(tx *tx) error {
		// This one statement is the claim: the second of two callers finds it taken.
		err := requireChange(tx.exec(`UPDATE connection_credentials SET refresh_unanswered = CASE
			WHEN refresh_begun_until IS NULL THEN refresh_unanswered ELSE 1 END,
			refresh_begun_until = ? WHERE connection_id = ? AND generation = ? AND status = ? AND (refresh_begun_until IS NULL
			OR refresh_begun_until <= ?)`,
			formatTime(until), connectionID, generation, store.CredentialActive, formatTime(now)))
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		claimed := err == nil
		var begun *time.Time
		row := tx.row(`SELECT `+credentialColumns+` FROM connection_credentials WHERE connection_id = ? AND status <> ?`,
			connectionID, store.CredentialRevoked)
		if c, err = getRow(db, row, scanCredential); err != nil {
			return err
		}
		if claimed {
			return nil
		}
		if c.Generation != generation || c.Status != store.CredentialActive {
			return store.ErrStale
		}
		if err := tx.row(`SELECT refresh_begun_until FROM connection_credentials WHERE connection_id = ?`,
			connectionID).Scan(intoTimePtr(&begun)); err != nil {
			return err
		}
		if begun == nil { // it was released between the two statements
			begun = &now
		}
		return &store.RefreshActiveError{Until: *begun}
	})
	if err != nil {
		return store.Credential{}, err
	}
	return c, nil
}

func (db *DB) SaveRefreshed(ctx context.Context, c store.Credential) error {
	return db.write(ctx, func(tx *tx) error {
		err := requireChange(tx.exec(`UPDATE connection_credentials SET sealed_secret = ?, fingerprint = ?, status = ?,
			rejected_at = NULL, rejection_reason = '',
			generation = generation + 1, renewable = ?, token_expires_at = ?, `+refreshResetSet+`
			WHERE connection_id = ? AND generation = ? AND status <> ?`,
			c.Sealed, c.Fingerprint, store.CredentialActive, boolToInt(c.Refresh.Renewable), timeOrNull(c.Refresh.ExpiresAt),
			c.ConnectionID, c.Generation, store.CredentialRevoked))
		if errors.Is(err, store.ErrNotFound) {
			return store.ErrStale
		}
		if err != nil {
			return err
		}
		return tx.markChanged(c.ConnectionID)
	})
}

func (db *DB) FailRefresh(ctx context.Context, connectionID string, generation int64, f store.RefreshFailure) error {
	return db.write(ctx, func(tx *tx) error {
		err := requireChange(tx.exec(`UPDATE connection_credentials
			SET refresh_begun_until = NULL, refresh_failures = refresh_failures + 1,
			refresh_failing_since = coalesce(refresh_failing_since, ?), refresh_next_at = ?, refresh_unanswered = CASE WHEN ? = 1
			THEN 1 ELSE refresh_unanswered END
			WHERE connection_id = ? AND generation = ?`, formatTime(f.At), formatTime(f.Next), boolToInt(f.Unanswered),
			connectionID, generation))
		if errors.Is(err, store.ErrNotFound) {
			return store.ErrStale
		}
		return err
	})
}

func (db *DB) PutSignIn(ctx context.Context, s store.SignIn, now time.Time) error {
	return db.write(ctx, func(tx *tx) error {
		if _, err := tx.exec(`DELETE FROM provider_sign_ins WHERE connection_id = ? AND binder = ? OR expires_at <= ?`,
			s.ConnectionID, s.Binder, formatTime(now)); err != nil {
			return err
		}
		_, err := tx.exec(`INSERT INTO provider_sign_ins (mark, binder, connection_id, sealed, expires_at, next_poll_at)
			VALUES (?, ?, ?, ?, ?, ?)`,
			s.Mark, s.Binder, s.ConnectionID, s.Sealed, formatTime(s.ExpiresAt), formatTime(now))
		return err
	})
}

const signInColumns = `mark, binder, connection_id, sealed, expires_at`

func scanSignIn(s scanner) (v store.SignIn, err error) {
	err = s.Scan(&v.Mark, &v.Binder, &v.ConnectionID, &v.Sealed, intoTime(&v.ExpiresAt))
	return v, err
}

func (db *DB) TakeSignIn(ctx context.Context, mark, binder string, now time.Time) (s store.SignIn, err error) {
	err = db.write(ctx, func(tx *tx) error {
		row := tx.row(`DELETE FROM provider_sign_ins WHERE mark = ? AND binder = ? AND expires_at > ?
			RETURNING `+signInColumns, mark, binder, formatTime(now))
		s, err = getRow(db, row, scanSignIn)
		return err
	})
	return s, err
}

func (db *DB) PollSignIn(ctx context.Context, mark, binder string, next, now time.Time) (s store.SignIn, err error) {
	err = db.write(ctx, func(tx *tx) error {
		row := tx.row(`UPDATE provider_sign_ins SET next_poll_at = ? WHERE mark = ? AND binder = ? AND expires_at > ?
			AND next_poll_at <= ?
			RETURNING `+signInColumns, formatTime(next), mark, binder, formatTime(now), formatTime(now))
		s, err = getRow(db, row, scanSignIn)
		if !errors.Is(err, store.ErrNotFound) {
			return err
		}
		s, err = getRow(db, tx.row(`SELECT `+signInColumns+` FROM provider_sign_ins WHERE mark = ? AND binder = ?
			AND expires_at > ?`, mark, binder, formatTime(now)), scanSignIn)
		if err == nil {
			err = store.ErrWaiting
		}
		return err
	})
	return s, err
}
