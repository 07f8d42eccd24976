package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

func (db *DB) AddWebhook(ctx context.Context, w store.Webhook) error {
	streams, err := jsonStrings(w.Streams)
	if err != nil {
		return fmt.Errorf("streams of webhook %s: %w", w.ID, err)
	}
	return db.write(ctx, func(tx *tx) error {
		if _, err := tx.exec(`INSERT INTO webhooks (webhook_id, name, grant_id, address, sealed_secret, local, connection_id,
				streams_json, batch, created_at, pause_reason, failures, last_failure, deliveries, claimed_by)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '', 0, '', 0, '')`, w.ID, w.Name, textOrNull(w.GrantID), w.Address,
			nonNilBytes(w.Sealed), boolToInt(w.Local), w.ConnectionID, streams, w.Batch, formatTime(w.CreatedAt)); err != nil {
			return fmt.Errorf("webhook %s: %w", w.ID, err)
		}
		for _, f := range w.Feeds {
			if err := tx.putWebhookFeed(w.ID, f); err != nil {
				return err
			}
		}
		return nil
	})
}

func (t *tx) putWebhookFeed(id string, f store.WebhookFeed) error {
	_, err := t.exec(`INSERT INTO webhook_feeds (webhook_id, stream, cursor, round) VALUES (?, ?, ?, ?)
		ON CONFLICT (webhook_id, stream) DO UPDATE SET cursor = excluded.cursor, round = excluded.round`, id, f.Stream,
		f.Cursor, f.Round)
	if err != nil {
		return fmt.Errorf("feed of webhook %s: %w", id, err)
	}
	return nil
}

func (db *DB) Webhooks(ctx context.Context) ([]store.Webhook, error) {
	all, err := listRows(ctx, db, db.reader, func(row scanner) (w store.Webhook, err error) {
		var streams string
		err = row.Scan(&w.ID, &w.Name, intoString(&w.GrantID), &w.Address, &w.Sealed, &w.Local, &w.ConnectionID, &streams,
			&w.Batch, intoTime(&w.CreatedAt), intoTimePtr(&w.PausedAt), &w.PauseReason, &w.Failures,
			intoTimePtr(&w.FailingSince), intoTimePtr(&w.NextAt), &w.LastFailure, intoTimePtr(&w.LastSuccessAt),
			&w.Deliveries)
		if err == nil {
			w.Streams, err = parseStrings(streams)
		}
		return w, err
	}, `SELECT webhook_id, name, grant_id, address, sealed_secret, local, connection_id, streams_json, batch, created_at,
			paused_at, pause_reason, failures, failing_since, next_at, last_failure, last_success_at, deliveries
		FROM webhooks ORDER BY created_at, webhook_id`)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	of := func(id string) *store.Webhook { // one that was added meanwhile is left out
		i := slices.IndexFunc(all, func(w store.Webhook) bool { return w.ID == id })
		if i < 0 {
			return &store.Webhook{}
		}
		return &all[i]
	}
	err = eachRow(ctx, db, db.reader, `SELECT webhook_id, stream, cursor, round FROM webhook_feeds
		ORDER BY webhook_id, stream`, nil, func(row scanner) (bool, error) {
		var id string
		var f store.WebhookFeed
		err := row.Scan(&id, &f.Stream, &f.Cursor, &f.Round)
		w := of(id)
		w.Feeds = append(w.Feeds, f)
		return true, err
	})
	if err != nil {
		return nil, err
	}
	return all, eachRow(ctx, db, db.reader, `SELECT webhook_id, letter_id, stream, cursor, changes, reason, refused_at
		FROM webhook_letters ORDER BY webhook_id, refused_at, letter_id`, nil, func(row scanner) (bool, error) {
		var id string
		var l store.WebhookLetter
		err := row.Scan(&id, &l.ID, &l.Stream, &l.Cursor, &l.Changes, &l.Reason, intoTime(&l.RefusedAt))
		w := of(id)
		w.Letters = append(w.Letters, l)
		return true, err
	})
}

// DeleteWebhook ends the claim first, so that no process adds a feed meanwhile.
func (db *DB) DeleteWebhook(ctx context.Context, id string) error {
	return db.write(ctx, func(tx *tx) error {
		if err := requireChange(tx.exec(`UPDATE webhooks SET claimed_by = '' WHERE webhook_id = ?`, id)); err != nil {
			return err
		}
		for _, table := range []string{"webhook_feeds", "webhook_letters"} {
			if _, err := tx.exec(`DELETE FROM `+table+` WHERE webhook_id = ?`, id); err != nil {
				return err
			}
		}
		_, err := tx.exec(`DELETE FROM webhooks WHERE webhook_id = ?`, id)
		return err
	})
}

func (db *DB) SetWebhookSecret(ctx context.Context, id string, old, sealed []byte) error {
	return db.write(ctx, func(tx *tx) error {
		return requireChange(tx.exec(`UPDATE webhooks SET sealed_secret = ?, claimed_by = '', claimed_until = NULL
			WHERE webhook_id = ? AND sealed_secret = ?`, sealed, id, old))
	})
}

func (db *DB) SetWebhookState(ctx context.Context, id, holder string, s store.WebhookState) error {
	return db.write(ctx, func(tx *tx) error {
		return requireChange(tx.exec(`UPDATE webhooks SET paused_at = ?, pause_reason = ?, failures = ?, failing_since = ?,
				next_at = ?, last_failure = ?, last_success_at = ?, claimed_by = '', claimed_until = NULL
			WHERE webhook_id = ? AND (? = '' OR claimed_by = ?)`,
			timeOrNull(s.PausedAt), s.PauseReason, s.Failures, timeOrNull(s.FailingSince), timeOrNull(s.NextAt),
			s.LastFailure, timeOrNull(s.LastSuccessAt), id, holder, holder))
	})
}

func (db *DB) ClaimWebhook(ctx context.Context, id, holder string, now, until time.Time) (claimed bool, err error) {
	err = db.write(ctx, func(tx *tx) error {
		n, err := tx.exec(`UPDATE webhooks SET claimed_by = ?, claimed_until = ?
			WHERE webhook_id = ? AND paused_at IS NULL AND coalesce(next_at, '') <= ?
				AND (claimed_by = ? OR coalesce(claimed_until, '') <= ?)`,
			holder, formatTime(until), id, formatTime(now), holder, formatTime(now))
		claimed = n > 0
		return err
	})
	return claimed && err == nil, err
}

// AdvanceWebhook changes the webhook first, so that a process that lost its claim waits there for the new one.
func (db *DB) AdvanceWebhook(ctx context.Context, m store.WebhookMove) error {
	delivered := 1
	if m.Letter != nil {
		delivered = 0
	}
	return db.write(ctx, func(tx *tx) error {
		if err := requireChange(tx.exec(`UPDATE webhooks SET failures = 0, failing_since = NULL, next_at = NULL,
				last_success_at = CASE WHEN ? = 1 THEN ? ELSE last_success_at END, deliveries = deliveries + ?, claimed_until = ?
			WHERE webhook_id = ? AND claimed_by = ? AND paused_at IS NULL`,
			delivered, formatTime(m.Now), delivered, formatTime(m.Until), m.ID, m.Holder)); err != nil {
			return err
		}
		if l := m.Letter; l != nil {
			if _, err := tx.exec(`INSERT INTO webhook_letters (letter_id, webhook_id, stream, cursor, changes, reason,
				refused_at) VALUES (?, ?, ?, ?, ?, ?, ?)`, l.ID, m.ID, l.Stream, l.Cursor, l.Changes, l.Reason,
				formatTime(l.RefusedAt)); err != nil {
				return err
			}
		}
		return tx.putWebhookFeed(m.ID, store.WebhookFeed{Stream: m.From.Stream, Cursor: m.Cursor, Round: m.From.Round})
	})
}

func (db *DB) RewindWebhook(ctx context.Context, id, stream, cursor, letter string) error {
	return db.write(ctx, func(tx *tx) error {
		if err := requireChange(tx.exec(`UPDATE webhooks SET claimed_by = '', claimed_until = NULL, next_at = NULL
			WHERE webhook_id = ?`, id)); err != nil {
			return err
		}
		if _, err := tx.exec(`DELETE FROM webhook_letters WHERE webhook_id = ? AND letter_id = ?`, id, letter); err != nil {
			return err
		}
		n, err := tx.exec(`UPDATE webhook_feeds SET cursor = ?, round = round + 1 WHERE webhook_id = ? AND stream = ?`,
			cursor, id, stream)
		if err != nil || n > 0 {
			return err
		}
		return tx.putWebhookFeed(id, store.WebhookFeed{Stream: stream, Cursor: cursor, Round: 1})
	})
}
