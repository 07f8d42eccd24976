-- Tokens that providers give for a time are refreshed by one caller at a time, and sign-ins at
-- providers wait for their answer. The other database has the same columns.

-- +goose Up
ALTER TABLE connection_credentials ADD COLUMN generation INTEGER NOT NULL DEFAULT 1;
ALTER TABLE connection_credentials ADD COLUMN renewable INTEGER NOT NULL DEFAULT 0;
ALTER TABLE connection_credentials ADD COLUMN token_expires_at TEXT; -- NULL: not known
ALTER TABLE connection_credentials ADD COLUMN refresh_begun_until TEXT; -- NULL: nobody refreshes it
ALTER TABLE connection_credentials ADD COLUMN refresh_unanswered INTEGER NOT NULL DEFAULT 0;
ALTER TABLE connection_credentials ADD COLUMN refresh_failures INTEGER NOT NULL DEFAULT 0;
ALTER TABLE connection_credentials ADD COLUMN refresh_failing_since TEXT;
ALTER TABLE connection_credentials ADD COLUMN refresh_next_at TEXT;

CREATE TABLE provider_sign_ins (
    mark          TEXT NOT NULL PRIMARY KEY, -- digest of what the answer must show
    binder        TEXT NOT NULL, -- who began it
    connection_id TEXT NOT NULL REFERENCES connections (connection_id),
    sealed        BLOB NOT NULL,
    expires_at    TEXT NOT NULL,
    next_poll_at  TEXT NOT NULL
);
