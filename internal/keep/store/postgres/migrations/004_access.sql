-- Who may come in, and what clients may read. Of a secret only its SHA-256 is
-- kept. SQLite has the same tables and columns.

-- +goose Up
ALTER TABLE streams ADD COLUMN deleted_records BIGINT  NOT NULL DEFAULT 0; -- tombstones
UPDATE streams SET
    deleted_records = (SELECT count(*) FROM records r WHERE r.stream_id = streams.stream_id AND r.data IS NULL);

-- Parts of streams are bounded by it.
ALTER TABLE records ALTER COLUMN semantic_time TYPE TEXT COLLATE "C";
ALTER TABLE record_history ALTER COLUMN semantic_time TYPE TEXT COLLATE "C";

CREATE TABLE owner_sessions (
    session_hash BYTEA NOT NULL PRIMARY KEY,
    data         BYTEA NOT NULL,
    expires_at   TEXT COLLATE "C" NOT NULL
);

CREATE TABLE owner_tokens (
    token_id     TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    token_hash   BYTEA NOT NULL UNIQUE,
    prefix       TEXT NOT NULL,
    label        TEXT NOT NULL,
    created_at   TEXT COLLATE "C" NOT NULL,
    expires_at   TEXT COLLATE "C",
    last_used_at TEXT COLLATE "C",
    revoked_at   TEXT COLLATE "C"
);

CREATE TABLE grants (
    grant_id     TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    client_id    TEXT COLLATE "C" NOT NULL,
    client_name  TEXT    NOT NULL,
    purpose      TEXT    NOT NULL,
    mode         TEXT    NOT NULL,
    scope_json   TEXT,
    created_at   TEXT COLLATE "C" NOT NULL,
    expires_at   TEXT COLLATE "C",
    revoked_at   TEXT COLLATE "C",
    last_used_at TEXT COLLATE "C",
    uses         BIGINT  NOT NULL
);

CREATE TABLE grant_tokens (
    token_hash BYTEA NOT NULL PRIMARY KEY,
    grant_id   TEXT COLLATE "C" NOT NULL REFERENCES grants (grant_id)
);

CREATE TABLE grant_uses (
    grant_id     TEXT COLLATE "C" NOT NULL REFERENCES grants (grant_id),
    stream       TEXT COLLATE "C" NOT NULL,
    reads        BIGINT  NOT NULL,
    records      BIGINT  NOT NULL,
    last_used_at TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (grant_id, stream)
);

CREATE TABLE grant_requests (
    request_id       TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    client_id        TEXT COLLATE "C" NOT NULL,
    client_name      TEXT NOT NULL,
    redirect_uri     TEXT NOT NULL,
    state            TEXT NOT NULL,
    code_challenge   TEXT NOT NULL,
    purpose          TEXT NOT NULL,
    mode             TEXT NOT NULL,
    scope_json       TEXT,
    grant_expires_at TEXT COLLATE "C",
    created_at       TEXT COLLATE "C" NOT NULL,
    expires_at       TEXT COLLATE "C" NOT NULL,
    decided_at       TEXT COLLATE "C",
    grant_id         TEXT COLLATE "C" REFERENCES grants (grant_id), -- NULL unless approved
    code_hash        BYTEA UNIQUE,
    code_expires_at  TEXT COLLATE "C",
    code_spent_at    TEXT COLLATE "C"
);
CREATE INDEX grant_requests_in_vain ON grant_requests (expires_at) WHERE grant_id IS NULL;
