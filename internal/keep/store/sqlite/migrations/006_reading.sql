-- What clients with grants may do: what is stored is held against what is declared now,
-- a cursor of a single-use grant is good for one page, and apps that never come back are
-- forgotten. PostgreSQL has the same tables and columns.

-- +goose Up
ALTER TABLE streams ADD COLUMN time_field TEXT NOT NULL DEFAULT ''; -- holds the semantic time; empty for none
ALTER TABLE streams ADD COLUMN time_seq INTEGER NOT NULL DEFAULT 0; -- rows up to here have the time that time_field gives
UPDATE streams SET time_field = coalesce((
    SELECT e.value ->> 'consent_time_field' FROM connections c
    JOIN connector_manifests m ON m.connector_id = c.connector_id,
        json_each(CASE WHEN json_valid(m.body) THEN m.body ELSE '{}' END, '$.streams') e
    WHERE c.connection_id = streams.connection_id AND e.value ->> 'name' = streams.name
    ORDER BY m.generation DESC LIMIT 1), '');
-- The times of a stream that nobody declares stay as they are.
UPDATE streams SET time_seq = last_seq WHERE NOT EXISTS (
    SELECT 1 FROM connections c JOIN connector_manifests m ON m.connector_id = c.connector_id,
        json_each(CASE WHEN json_valid(m.body) THEN m.body ELSE '{}' END, '$.streams') e
    WHERE c.connection_id = streams.connection_id AND e.value ->> 'name' = streams.name);

ALTER TABLE grant_uses ADD COLUMN next_hash BLOB; -- of the one cursor that goes on; NULL when there is none

CREATE TABLE oauth_clients (
    client_id          TEXT NOT NULL PRIMARY KEY,
    client_name        TEXT NOT NULL,
    redirect_uris_json TEXT NOT NULL, -- JSON array
    created_at         TEXT NOT NULL,
    approved_at        TEXT, -- of the newest grant; NULL when there was none
    ends_at            TEXT NOT NULL -- it is forgotten then, unless it is used before
);
CREATE INDEX oauth_clients_by_end ON oauth_clients (ends_at);
INSERT INTO oauth_clients (client_id, client_name, redirect_uris_json, created_at, approved_at, ends_at)
SELECT CAST(s.value AS TEXT) ->> 'client_id', CAST(s.value AS TEXT) ->> 'client_name', CAST(s.value AS TEXT) -> 'redirect_uris',
    s.updated_at, (SELECT max(g.created_at) FROM grants g WHERE g.client_id = CAST(s.value AS TEXT) ->> 'client_id'),
    strftime('%Y-%m-%dT%H:%M:%S.000000Z', 'now', '+30 days')
FROM settings s WHERE s.name LIKE 'oauth_client:%';
DELETE FROM settings WHERE name LIKE 'oauth_client:%';
