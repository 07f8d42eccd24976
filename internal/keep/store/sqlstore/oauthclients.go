package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/internal/keep/store"
)

const oauthClientColumns = `client_id, client_name, redirect_uris_json, created_at, approved_at, ends_at`

func scanOAuthClient(s scanner) (c store.OAuthClient, err error) {
	var uris string
	err = s.Scan(&c.ID, &c.Name, &uris, intoTime(&c.CreatedAt), intoTimePtr(&c.ApprovedAt), intoTime(&c.EndsAt))
	if err == nil {
		c.RedirectURIs, err = parseStrings(uris)
	}
	return c, err
}

// PutOAuthClient also forgets those that have ended: anybody may register an app, and
// what nobody uses must not pile up.
func (db *DB) PutOAuthClient(ctx context.Context, c store.OAuthClient) error {
	uris, err := jsonStrings(c.RedirectURIs)
	if err != nil {
		return err
	}
	return db.write(ctx, func(tx *tx) error {
		if _, err := tx.exec(`DELETE FROM oauth_clients WHERE ends_at <= ?`, stamp(c.CreatedAt)); err != nil {
			return err
		}
		_, err := tx.exec(`INSERT INTO oauth_clients (`+oauthClientColumns+`) VALUES (?, ?, ?, ?, ?, ?)`,
			c.ID, c.Name, uris, stamp(c.CreatedAt), stampOrNull(c.ApprovedAt), stamp(c.EndsAt))
		if err != nil {
			return fmt.Errorf("client %s: %w", c.ID, err)
		}
		return nil
	})
}

func (db *DB) OAuthClient(ctx context.Context, id string, now time.Time) (store.OAuthClient, error) {
	if !storable(id) {
		return store.OAuthClient{}, store.ErrNotFound
	}
	return get(db, db.row(ctx, `SELECT `+oauthClientColumns+` FROM oauth_clients WHERE client_id = ? AND ends_at > ?`, id, stamp(now)), scanOAuthClient)
}

func (db *DB) ExtendOAuthClient(ctx context.Context, id string, endsAt time.Time, approved bool, now time.Time) error {
	return db.write(ctx, func(tx *tx) error {
		return one(tx.exec(`UPDATE oauth_clients SET ends_at = CASE WHEN ends_at < ? THEN ? ELSE ends_at END,
			approved_at = CASE WHEN CAST(? AS integer) = 1 THEN ? ELSE approved_at END WHERE client_id = ?`,
			stamp(endsAt), stamp(endsAt), number(approved), stamp(now), id))
	})
}
