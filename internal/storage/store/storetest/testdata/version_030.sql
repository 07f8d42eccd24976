-- Webhooks and triggers, which schema version 30 added.
INSERT INTO webhooks (webhook_id, name, grant_id, address, sealed_secret, local, connection_id, streams_json, batch, created_at,
    paused_at, pause_reason, failures, failing_since, next_at, last_failure, last_success_at, deliveries, claimed_by, claimed_until)
VALUES ('wh_1', 'Ledger', 'g1', 'https://ledger.example/in', CAST('sealed' AS BLOB), 0, 'c', '["items"]', 50, '2026-01-01T00:00:00.000000Z',
    '2026-01-02T00:00:00.000000Z', 'refused', 9, '2026-01-01T01:00:00.000000Z', '2026-01-01T02:00:00.000000Z', 'http_503',
    '2026-01-01T00:30:00.000000Z', 12, 'harbour:42', '2026-01-01T00:31:00.000000Z');
INSERT INTO webhook_feeds (webhook_id, stream, cursor, round) VALUES ('wh_1', 'items', 'place', 2);
INSERT INTO webhook_letters (letter_id, webhook_id, stream, cursor, changes, reason, refused_at)
VALUES ('let_1', 'wh_1', 'items', 'earlier', 3, 'http_422', '2026-01-01T00:20:00.000000Z');
INSERT INTO run_triggers (trigger_id, connection_id, kind, sealed_secret, created_at, calls, last_called_at)
VALUES ('trg_1', 'c', 'github', CAST('sealed' AS BLOB), '2026-01-01T00:00:00.000000Z', 4, '2026-01-01T00:10:00.000000Z');
