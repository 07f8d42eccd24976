-- What an owner token may do, which browsers have signed in before, and two further
-- ways in. Of a secret only its SHA-256 is kept; of a passkey only what checks it.
-- SQLite has the same tables and columns.

-- +goose Up
ALTER TABLE owner_tokens ADD COLUMN scopes TEXT NOT NULL DEFAULT 'all'; -- names, with spaces between

CREATE TABLE owner_browsers (
    browser_hash BYTEA NOT NULL PRIMARY KEY,
    created_at   TEXT COLLATE "C" NOT NULL,
    signed_in_at TEXT COLLATE "C" NOT NULL
);

CREATE TABLE owner_passkeys (
    passkey_id   TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    relying_host TEXT NOT NULL,
    label        TEXT NOT NULL,
    credential   BYTEA NOT NULL,
    created_at   TEXT COLLATE "C" NOT NULL,
    last_used_at TEXT COLLATE "C"
);

CREATE TABLE owner_recovery_codes (
    code_hash  BYTEA NOT NULL PRIMARY KEY,
    created_at TEXT COLLATE "C" NOT NULL,
    used_at    TEXT COLLATE "C"
);
