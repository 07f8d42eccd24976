-- Tokens that providers give for a time are refreshed by one caller at a time, and sign-ins at
-- providers wait for their answer. The other database has the same columns.

-- +goose Up
ALTER TABLE connection_credentials ADD COLUMN generation BIGINT NOT NULL DEFAULT 1;
ALTER TABLE connection_credentials ADD COLUMN renewable BIGINT NOT NULL DEFAULT 0;
ALTER TABLE connection_credentials ADD COLUMN token_expires_at TEXT COLLATE "C"; -- NULL: not known
ALTER TABLE connection_credentials ADD COLUMN refresh_begun_until TEXT COLLATE "C"; -- NULL: nobody refreshes it
ALTER TABLE connection_credentials ADD COLUMN refresh_unanswered BIGINT NOT NULL DEFAULT 0;
ALTER TABLE connection_credentials ADD COLUMN refresh_failures BIGINT NOT NULL DEFAULT 0;
ALTER TABLE connection_credentials ADD COLUMN refresh_failing_since TEXT COLLATE "C";
ALTER TABLE connection_credentials ADD COLUMN refresh_next_at TEXT COLLATE "C";

CREATE TABLE provider_sign_ins (
    mark          TEXT COLLATE "C" NOT NULL PRIMARY KEY, -- digest of what the answer must show
    binder        TEXT COLLATE "C" NOT NULL, -- who began it
    connection_id TEXT COLLATE "C" NOT NULL REFERENCES connections (connection_id),
    sealed        BYTEA NOT NULL,
    expires_at    TEXT COLLATE "C" NOT NULL,
    next_poll_at  TEXT COLLATE "C" NOT NULL
);
