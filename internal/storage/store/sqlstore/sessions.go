package sqlstore

import (
	"context"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

func (db *DB) PutSession(ctx context.Context, s store.Session) error {
	return db.write(ctx, func(tx *tx) error {
		_, err := tx.exec(`INSERT INTO owner_sessions (session_hash, data, expires_at) VALUES (?, ?, ?)
			ON CONFLICT (session_hash) DO UPDATE SET data = excluded.data, expires_at = excluded.expires_at`,
			nonNilBytes(s.Hash), nonNilBytes(s.Data), formatTime(s.ExpiresAt))
		return err
	})
}

func (db *DB) Session(ctx context.Context, hash []byte, now time.Time) (store.Session, error) {
	return getRow(db, db.row(ctx, `SELECT session_hash, data, expires_at FROM owner_sessions
		WHERE session_hash = ? AND expires_at > ?`, nonNilBytes(hash), formatTime(now)), scanSession)
}

func scanSession(sc scanner) (s store.Session, err error) {
	err = sc.Scan(&s.Hash, &s.Data, intoTime(&s.ExpiresAt))
	return s, err
}

func (db *DB) Sessions(ctx context.Context, now time.Time) ([]store.Session, error) {
	return listRows(ctx, db, db.reader, scanSession, `SELECT session_hash, data, expires_at FROM owner_sessions
		WHERE expires_at > ? ORDER BY session_hash`, formatTime(now))
}

func (db *DB) DropSession(ctx context.Context, hash []byte) error {
	return db.write(ctx, func(tx *tx) error {
		_, err := tx.exec(`DELETE FROM owner_sessions WHERE session_hash = ?`, nonNilBytes(hash))
		return err
	})
}

func (db *DB) DropSessions(ctx context.Context, keep []byte) error {
	return db.write(ctx, func(tx *tx) error {
		_, err := tx.exec(`DELETE FROM owner_sessions WHERE session_hash <> ? OR ? = 1`, nonNilBytes(keep),
			boolToInt(len(keep) == 0))
		return err
	})
}
