-- Who may come in, and what clients may read. Of a secret only its SHA-256 is
-- kept. PostgreSQL has the same tables and columns.

-- +goose Up
ALTER TABLE streams ADD COLUMN deleted_records INTEGER NOT NULL DEFAULT 0; -- tombstones
UPDATE streams SET
    deleted_records = (SELECT count(*) FROM records r WHERE r.stream_id = streams.stream_id AND r.data IS NULL);

CREATE TABLE owner_sessions (
    session_hash BLOB NOT NULL PRIMARY KEY,
    data         BLOB NOT NULL,
    expires_at   TEXT NOT NULL
);

CREATE TABLE owner_tokens (
    token_id     TEXT NOT NULL PRIMARY KEY,
    token_hash   BLOB NOT NULL UNIQUE,
    prefix       TEXT NOT NULL,
    label        TEXT NOT NULL,
    created_at   TEXT NOT NULL,
    expires_at   TEXT,
    last_used_at TEXT,
    revoked_at   TEXT
);

CREATE TABLE grants (
    grant_id     TEXT    NOT NULL PRIMARY KEY,
    client_id    TEXT    NOT NULL,
    client_name  TEXT    NOT NULL,
    purpose      TEXT    NOT NULL,
    mode         TEXT    NOT NULL,
    scope_json   TEXT,
    created_at   TEXT    NOT NULL,
    expires_at   TEXT,
    revoked_at   TEXT,
    last_used_at TEXT,
    uses         INTEGER NOT NULL
);

CREATE TABLE grant_tokens (
    token_hash BLOB NOT NULL PRIMARY KEY,
    grant_id   TEXT NOT NULL REFERENCES grants (grant_id)
);

CREATE TABLE grant_uses (
    grant_id     TEXT    NOT NULL REFERENCES grants (grant_id),
    stream       TEXT    NOT NULL,
    reads        INTEGER NOT NULL,
    records      INTEGER NOT NULL,
    last_used_at TEXT    NOT NULL,
    PRIMARY KEY (grant_id, stream)
);

CREATE TABLE grant_requests (
    request_id       TEXT NOT NULL PRIMARY KEY,
    client_id        TEXT NOT NULL,
    client_name      TEXT NOT NULL,
    redirect_uri     TEXT NOT NULL,
    state            TEXT NOT NULL,
    code_challenge   TEXT NOT NULL,
    purpose          TEXT NOT NULL,
    mode             TEXT NOT NULL,
    scope_json       TEXT,
    grant_expires_at TEXT,
    created_at       TEXT NOT NULL,
    expires_at       TEXT NOT NULL,
    decided_at       TEXT,
    grant_id         TEXT REFERENCES grants (grant_id), -- NULL unless approved
    code_hash        BLOB UNIQUE,
    code_expires_at  TEXT,
    code_spent_at    TEXT
);
CREATE INDEX grant_requests_in_vain ON grant_requests (expires_at) WHERE grant_id IS NULL;
