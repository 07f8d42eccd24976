-- What clients with grants may do: what is stored is held against what is declared now,
-- a cursor of a single-use grant is good for one page, and apps that never come back are
-- forgotten. SQLite has the same tables and columns.

-- +goose Up
ALTER TABLE streams ADD COLUMN time_field TEXT COLLATE "C" NOT NULL DEFAULT ''; -- holds the semantic time; empty for none
ALTER TABLE streams ADD COLUMN time_seq BIGINT NOT NULL DEFAULT 0; -- rows up to here have the time that time_field gives
UPDATE streams SET time_field = coalesce((
    SELECT e.value ->> 'consent_time_field' FROM connections c
    JOIN connector_manifests m ON m.connector_id = c.connector_id,
        json_array_elements(CASE WHEN m.body ~ '^\s*\{' AND json_typeof(m.body::json -> 'streams') = 'array' THEN m.body::json -> 'streams' ELSE '[]' END) e
    WHERE c.connection_id = streams.connection_id AND e.value ->> 'name' = streams.name
    ORDER BY m.generation DESC LIMIT 1), '');
-- The times of a stream that nobody declares stay as they are.
UPDATE streams SET time_seq = last_seq WHERE NOT EXISTS (
    SELECT 1 FROM connections c JOIN connector_manifests m ON m.connector_id = c.connector_id,
        json_array_elements(CASE WHEN m.body ~ '^\s*\{' AND json_typeof(m.body::json -> 'streams') = 'array' THEN m.body::json -> 'streams' ELSE '[]' END) e
    WHERE c.connection_id = streams.connection_id AND e.value ->> 'name' = streams.name);

-- Semantic times may be rewritten without a change of the record.
DROP TRIGGER records_keep_history ON records;
CREATE TRIGGER records_keep_history AFTER UPDATE ON records
    REFERENCING OLD TABLE AS replaced FOR EACH STATEMENT
    WHEN (current_setting('pdpp.aligning', true) IS DISTINCT FROM 'on') EXECUTE FUNCTION records_keep_history();

-- SQLite has these two as functions of the program. A record is not read here whose text
-- has escapes that PostgreSQL refuses: the program looks at it.
-- +goose StatementBegin
CREATE FUNCTION record_holds(data text, field text, value text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE
        WHEN data !~ '^\s*\{' OR strpos(data, '\u') > 0 AND data ~* '\\u(0000|d[89a-f])' THEN NULL
        ELSE coalesce((data::json ->> field) = value AND json_typeof(data::json -> field) IN ('string', 'number', 'boolean'), FALSE)
    END
$$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE FUNCTION record_pick(data text, fields text[]) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE
        WHEN data IS NULL OR fields IS NULL OR data !~ '^\s*\{' OR strpos(data, '\u') > 0 AND data ~* '\\u(0000|d[89a-f])' THEN data
        ELSE (SELECT '{' || coalesce(string_agg(to_json(e.key)::text || ':' || e.value::text, ',' ORDER BY e.n), '') || '}'
            FROM json_each(data::json) WITH ORDINALITY AS e (key, value, n) WHERE e.key = ANY (fields))
    END
$$;
-- +goose StatementEnd

ALTER TABLE grant_uses ADD COLUMN next_hash BYTEA; -- of the one cursor that goes on; NULL when there is none

CREATE TABLE oauth_clients (
    client_id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    client_name        TEXT NOT NULL,
    redirect_uris_json TEXT NOT NULL, -- JSON array
    created_at         TEXT COLLATE "C" NOT NULL,
    approved_at        TEXT COLLATE "C", -- of the newest grant; NULL when there was none
    ends_at            TEXT COLLATE "C" NOT NULL -- it is forgotten then, unless it is used before
);
CREATE INDEX oauth_clients_by_end ON oauth_clients (ends_at);
INSERT INTO oauth_clients (client_id, client_name, redirect_uris_json, created_at, approved_at, ends_at)
SELECT convert_from(s.value, 'UTF8')::json ->> 'client_id', convert_from(s.value, 'UTF8')::json ->> 'client_name',
    (convert_from(s.value, 'UTF8')::json -> 'redirect_uris')::text, s.updated_at,
    (SELECT max(g.created_at) FROM grants g WHERE g.client_id = convert_from(s.value, 'UTF8')::json ->> 'client_id'),
    to_char((now() + interval '30 days') AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
FROM settings s WHERE s.name LIKE 'oauth_client:%';
DELETE FROM settings WHERE name LIKE 'oauth_client:%';
