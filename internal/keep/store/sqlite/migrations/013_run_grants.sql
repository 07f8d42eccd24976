-- The grant that a run was asked for by, empty for one that the owner or a schedule
-- wants. PostgreSQL has the same.

-- +goose Up
ALTER TABLE run_history ADD COLUMN grant_id TEXT NOT NULL DEFAULT '';
CREATE INDEX run_history_of_grants ON run_history (grant_id) WHERE grant_id <> '' AND status = 'running';

CREATE TABLE run_requests_by_grant (
    connection_id TEXT    NOT NULL REFERENCES connections (connection_id),
    trigger_kind  TEXT    NOT NULL,
    recovery_only INTEGER NOT NULL,
    requested_at  TEXT    NOT NULL,
    scope_json    TEXT    NOT NULL DEFAULT '', -- JSON array of stream scopes; empty: none
    whole         INTEGER NOT NULL DEFAULT 1, -- 1: a run without such limits is asked for, too
    ask_anyway    INTEGER NOT NULL DEFAULT 0,
    grant_id      TEXT    NOT NULL DEFAULT '',
    PRIMARY KEY (connection_id, grant_id)
);
INSERT INTO run_requests_by_grant (connection_id, trigger_kind, recovery_only, requested_at, scope_json, whole, ask_anyway)
SELECT connection_id, trigger_kind, recovery_only, requested_at, scope_json, whole, ask_anyway FROM run_requests;
DROP TABLE run_requests;
ALTER TABLE run_requests_by_grant RENAME TO run_requests;
