-- What schedules, workers, attention and pushes keep between two looks.
-- PostgreSQL has the same.

-- +goose Up
ALTER TABLE connections ADD COLUMN look_at TEXT NOT NULL DEFAULT ''; -- empty means at once, and sorts first
ALTER TABLE connections ADD COLUMN touches INTEGER NOT NULL DEFAULT 0; -- rises with whatever the connection is judged by
CREATE INDEX connections_to_look_at ON connections (look_at, connection_id) WHERE status NOT IN ('revoked', 'draft');

CREATE TABLE run_requests (
    connection_id TEXT    NOT NULL PRIMARY KEY REFERENCES connections (connection_id),
    trigger_kind  TEXT    NOT NULL,
    recovery_only INTEGER NOT NULL,
    requested_at  TEXT    NOT NULL
);

CREATE INDEX run_leases_by_expiry ON run_leases (expires_at) WHERE run_id IS NOT NULL;
CREATE INDEX run_leases_cancelled ON run_leases (run_id) WHERE cancel_requested = 1;

CREATE TABLE workers (
    worker_id         TEXT    NOT NULL PRIMARY KEY,
    host              TEXT    NOT NULL,
    pid               INTEGER NOT NULL,
    version           TEXT    NOT NULL,
    capabilities_json TEXT    NOT NULL, -- JSON array
    slots             INTEGER NOT NULL,
    running           INTEGER NOT NULL,
    draining          INTEGER NOT NULL,
    started_at        TEXT    NOT NULL,
    seen_at           TEXT    NOT NULL
);

-- Both are gone once the question is closed.
ALTER TABLE interactions ADD COLUMN answer_key BLOB;
ALTER TABLE interactions ADD COLUMN sealed_answer BLOB;
CREATE INDEX interactions_answered ON interactions (run_id, request_id) WHERE sealed_answer IS NOT NULL;

CREATE TABLE connector_attention_records (
    attention_id            TEXT    NOT NULL PRIMARY KEY,
    connection_id           TEXT    NOT NULL REFERENCES connections (connection_id),
    dedupe_key              TEXT    NOT NULL, -- the same for two records that ask for the same thing
    kind                    TEXT    NOT NULL,
    satisfied_when          TEXT    NOT NULL,
    urgency                 TEXT    NOT NULL,
    affects_json            TEXT    NOT NULL, -- JSON array
    owner_copy              TEXT    NOT NULL,
    reason_code             TEXT    NOT NULL,
    occasion                TEXT    NOT NULL,
    lifecycle               TEXT    NOT NULL,
    opened_at               TEXT    NOT NULL,
    updated_at              TEXT    NOT NULL,
    expires_at              TEXT,
    closed_at               TEXT,
    confirm_asked_at        TEXT,
    failed_confirmations    INTEGER NOT NULL,
    notification_state      TEXT    NOT NULL,
    notification_updated_at TEXT,
    notification_reason     TEXT    NOT NULL,
    revision                INTEGER NOT NULL -- rises with every save
);
CREATE UNIQUE INDEX connector_attention_records_open ON connector_attention_records (dedupe_key)
    WHERE lifecycle IN ('open', 'acknowledged', 'in_progress');
CREATE INDEX connector_attention_records_open_by_notice ON connector_attention_records (notification_state)
    WHERE lifecycle IN ('open', 'acknowledged', 'in_progress');
CREATE INDEX connector_attention_records_by_connection ON connector_attention_records (connection_id, lifecycle);
CREATE INDEX connector_attention_records_by_close ON connector_attention_records (closed_at) WHERE closed_at IS NOT NULL;

CREATE TABLE push_targets (
    target_id       TEXT    NOT NULL PRIMARY KEY,
    kind            TEXT    NOT NULL,
    label           TEXT    NOT NULL,
    endpoint        TEXT    NOT NULL UNIQUE,
    p256dh          TEXT    NOT NULL,
    auth            TEXT    NOT NULL,
    sealed_secret   BLOB,
    created_at      TEXT    NOT NULL,
    failures        INTEGER NOT NULL, -- in a row
    last_success_at TEXT,
    last_failure_at TEXT,
    last_failure    TEXT    NOT NULL,
    retired_at      TEXT
);

CREATE TABLE settings (
    name       TEXT NOT NULL PRIMARY KEY,
    value      BLOB NOT NULL,
    updated_at TEXT NOT NULL
);

CREATE INDEX device_source_instances_by_device ON device_source_instances (device_id);
