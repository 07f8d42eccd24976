-- Devices: how they are let in, what they may send, and what was answered. Of a
-- secret only its SHA-256 is kept. SQLite has the same tables and columns.

-- +goose Up
ALTER TABLE connections ADD COLUMN local_binding TEXT COLLATE "C" NOT NULL DEFAULT ''; -- what a device calls the source; empty: no device collects it
CREATE UNIQUE INDEX connections_by_local_binding ON connections (connector_id, local_binding)
    WHERE local_binding <> '' AND status <> 'revoked';

ALTER TABLE device_exporters ADD COLUMN last_used_at TEXT COLLATE "C"; -- when its token was last shown, and from where
ALTER TABLE device_exporters ADD COLUMN last_address TEXT NOT NULL DEFAULT '';

ALTER TABLE device_source_instances ADD COLUMN generation BIGINT NOT NULL DEFAULT 1; -- rises with every source that takes the connection over
ALTER TABLE device_source_instances ADD COLUMN max_batch_seq BIGINT NOT NULL DEFAULT 0; -- the highest that was accepted
ALTER TABLE device_source_instances ADD COLUMN clock_skew_s BIGINT; -- the device's clock minus ours; NULL when not measured
ALTER TABLE device_source_instances ADD COLUMN collection_scope_json TEXT; -- what is collected at most; NULL: everything

CREATE TABLE device_enrollment_codes (
    code_id               TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    code_hash             BYTEA NOT NULL UNIQUE,
    connector_id          TEXT COLLATE "C" NOT NULL,
    local_binding_id      TEXT COLLATE "C" NOT NULL,
    display_name          TEXT NOT NULL,
    status                TEXT NOT NULL, -- pending, consumed, revoked
    collection_scope_json TEXT,
    device_id             TEXT COLLATE "C" REFERENCES device_exporters (device_id), -- that was enrolled with it, with its source
    source_instance_id    TEXT COLLATE "C" REFERENCES device_source_instances (source_instance_id),
    created_at            TEXT COLLATE "C" NOT NULL,
    expires_at            TEXT COLLATE "C" NOT NULL,
    consumed_at           TEXT COLLATE "C",
    spent_at              TEXT COLLATE "C" -- when the token of it was first shown: from then on it gives no other
);
CREATE INDEX device_enrollment_codes_by_expiry ON device_enrollment_codes (expires_at);

CREATE TABLE device_ingest_credentials (
    credential_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    device_id     TEXT COLLATE "C" NOT NULL REFERENCES device_exporters (device_id),
    token_hash    BYTEA NOT NULL UNIQUE,
    status        TEXT NOT NULL, -- active, revoked
    code_id       TEXT COLLATE "C", -- that it was given for; NULL for one that replaced another
    created_at    TEXT COLLATE "C" NOT NULL,
    last_used_at  TEXT COLLATE "C", -- NULL until it is first shown, which ends its predecessors
    revoked_at    TEXT COLLATE "C"
);
CREATE INDEX device_ingest_credentials_by_device ON device_ingest_credentials (device_id);

CREATE TABLE device_ingest_batch_outcomes (
    device_id          TEXT COLLATE "C" NOT NULL REFERENCES device_exporters (device_id),
    batch_id           TEXT COLLATE "C" NOT NULL,
    source_instance_id TEXT COLLATE "C" NOT NULL,
    batch_seq          BIGINT NOT NULL,
    body_hash          TEXT    NOT NULL,
    run_id             TEXT COLLATE "C" NOT NULL,
    record_count       BIGINT NOT NULL,
    rejected_count     BIGINT NOT NULL,
    http_status        BIGINT NOT NULL,
    response_json      TEXT    NOT NULL, -- given again, byte for byte
    created_at         TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (device_id, batch_id)
);
CREATE INDEX device_ingest_batch_outcomes_by_source ON device_ingest_batch_outcomes (source_instance_id, created_at);

CREATE TABLE device_terminal_commits (
    source_instance_id TEXT COLLATE "C" NOT NULL REFERENCES device_source_instances (source_instance_id),
    commit_id          TEXT COLLATE "C" NOT NULL,
    run_id             TEXT COLLATE "C" NOT NULL,
    envelope_hash      TEXT NOT NULL,
    response_json      TEXT NOT NULL, -- given again, byte for byte
    created_at         TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (source_instance_id, commit_id)
);
