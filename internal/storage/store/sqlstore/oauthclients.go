package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
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

// PutOAuthClient also deletes ended apps, because anyone may register one.
func (db *DB) PutOAuthClient(ctx context.Context, c store.OAuthClient) error {
	uris, err := jsonStrings(c.RedirectURIs)
	if err != nil {
		return err
	}
	return db.write(ctx, func(tx *tx) error {
		if _, err := tx.exec(`DELETE FROM oauth_clients WHERE ends_at <= ?`, formatTime(c.CreatedAt)); err != nil {
			return err
		}
		_, err := tx.exec(`INSERT INTO oauth_clients (`+oauthClientColumns+`) VALUES (?, ?, ?, ?, ?, ?)`,
			c.ID, c.Name, uris, formatTime(c.CreatedAt), timeOrNull(c.ApprovedAt), formatTime(c.EndsAt))
		if err != nil {
			return fmt.Errorf("client %s: %w", c.ID, err)
		}
		return nil
	})
}

func (db *DB) OAuthClient(ctx context.Context, id string, now time.Time) (store.OAuthClient, error) {
	if !isStorable(id) {
		return store.OAuthClient{}, store.ErrNotFound
	}
	return getRow(db, db.row(ctx, `SELECT `+oauthClientColumns+` FROM oauth_clients WHERE client_id = ? AND ends_at > ?`,
		id, formatTime(now)), scanOAuthClient)
}

func (db *DB) ExtendOAuthClient(ctx context.Context, id string, endsAt time.Time, approved bool, now time.Time) error {
	return db.write(ctx, func(tx *tx) error {
		return requireChange(tx.exec(`UPDATE oauth_clients SET ends_at = CASE WHEN ends_at < ? THEN ? ELSE ends_at END,
			approved_at = CASE WHEN CAST(? AS integer) = 1 THEN ? ELSE approved_at END WHERE client_id = ?`,
			formatTime(endsAt), formatTime(endsAt), boolToInt(approved), formatTime(now), id))
	})
}
