-- What an owner token may do, which browsers have signed in before, and two further
-- ways in. Of a secret only its SHA-256 is kept; of a passkey only what checks it.
-- PostgreSQL has the same tables and columns.

-- +goose Up
ALTER TABLE owner_tokens ADD COLUMN scopes TEXT NOT NULL DEFAULT 'all'; -- names, with spaces between

CREATE TABLE owner_browsers (
    browser_hash BLOB NOT NULL PRIMARY KEY,
    created_at   TEXT NOT NULL,
    signed_in_at TEXT NOT NULL
);

CREATE TABLE owner_passkeys (
    passkey_id   TEXT NOT NULL PRIMARY KEY,
    relying_host TEXT NOT NULL,
    label        TEXT NOT NULL,
    credential   BLOB NOT NULL,
    created_at   TEXT NOT NULL,
    last_used_at TEXT
);

CREATE TABLE owner_recovery_codes (
    code_hash  BLOB NOT NULL PRIMARY KEY,
    created_at TEXT NOT NULL,
    used_at    TEXT
);
