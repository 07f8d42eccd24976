-- Times are UTC text of fixed width, JSON is text kept byte for byte, booleans
-- are 0 or 1. PostgreSQL has the same tables and columns.

-- +goose Up
CREATE TABLE store_check (
    writes INTEGER NOT NULL
);
INSERT INTO store_check (writes) VALUES (0);

CREATE TABLE connector_manifests (
    connector_id TEXT    NOT NULL,
    generation   INTEGER NOT NULL,
    body         TEXT    NOT NULL,
    created_at   TEXT    NOT NULL,
    PRIMARY KEY (connector_id, generation)
);

CREATE TABLE connections (
    connection_id       TEXT    NOT NULL PRIMARY KEY,
    connector_id        TEXT    NOT NULL,
    display_name        TEXT    NOT NULL,
    status              TEXT    NOT NULL,
    source_kind         TEXT    NOT NULL,
    source_binding_json TEXT,
    manifest_generation INTEGER NOT NULL,
    created_at          TEXT    NOT NULL,
    updated_at          TEXT    NOT NULL
);

CREATE TABLE run_history (
    run_no                   INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id                   TEXT    NOT NULL UNIQUE,
    connection_id            TEXT    NOT NULL REFERENCES connections (connection_id),
    connector_id             TEXT    NOT NULL,
    trigger_kind             TEXT    NOT NULL,
    recovery_only            INTEGER NOT NULL,
    status                   TEXT    NOT NULL,
    records_emitted          INTEGER NOT NULL DEFAULT 0,
    reported_records_emitted INTEGER,
    failure_reason           TEXT    NOT NULL DEFAULT '',
    terminal_reason          TEXT    NOT NULL DEFAULT '',
    error                    TEXT    NOT NULL DEFAULT '',
    connector_error_json     TEXT,
    checkpoint_summary_json  TEXT,
    known_gaps_json          TEXT,
    facts_json               TEXT,
    started_at               TEXT    NOT NULL,
    completed_at             TEXT
);
CREATE INDEX run_history_by_connection ON run_history (connection_id, started_at);

CREATE TABLE run_leases (
    connection_id    TEXT    NOT NULL PRIMARY KEY REFERENCES connections (connection_id),
    run_id           TEXT    UNIQUE, -- NULL while the connection is free
    run_no           INTEGER,
    holder           TEXT    NOT NULL,
    generation       INTEGER NOT NULL, -- rises with every run and never falls
    expires_at       TEXT,
    cancel_requested INTEGER NOT NULL,
    event_seq        INTEGER NOT NULL -- of the run's newest event
);

CREATE TABLE run_events (
    run_no      INTEGER NOT NULL,
    event_seq   INTEGER NOT NULL,
    event_type  TEXT    NOT NULL,
    occurred_at TEXT    NOT NULL,
    stream      TEXT    NOT NULL,
    data_json   TEXT,
    PRIMARY KEY (run_no, event_seq)
);

CREATE TABLE streams (
    stream_id       INTEGER PRIMARY KEY,
    connection_id   TEXT    NOT NULL REFERENCES connections (connection_id),
    name            TEXT    NOT NULL,
    last_seq        INTEGER NOT NULL, -- the highest sequence number handed out
    search_seq      INTEGER NOT NULL, -- rows up to here are in record_search
    search_fields   TEXT    NOT NULL, -- JSON array
    declared_run_no INTEGER NOT NULL, -- the newest run that may write the stream
    UNIQUE (connection_id, name)
);

-- A tombstone is a row without data.
CREATE TABLE records (
    id            INTEGER PRIMARY KEY,
    stream_id     INTEGER NOT NULL,
    record_key    TEXT    NOT NULL,
    data          TEXT,
    emitted_at    TEXT    NOT NULL,
    semantic_time TEXT    NOT NULL,
    seq           INTEGER NOT NULL,
    version       INTEGER NOT NULL,
    changed_at    TEXT    NOT NULL,
    run_no        INTEGER NOT NULL,
    deleted       INTEGER GENERATED ALWAYS AS (data IS NULL) VIRTUAL
);
CREATE UNIQUE INDEX records_by_key ON records (stream_id, record_key);
CREATE INDEX records_by_seq ON records (stream_id, seq);
CREATE INDEX records_deleted ON records (stream_id) WHERE data IS NULL;

CREATE TABLE record_history (
    record_id     INTEGER NOT NULL,
    version       INTEGER NOT NULL,
    data          TEXT,
    emitted_at    TEXT    NOT NULL,
    semantic_time TEXT    NOT NULL,
    seq           INTEGER NOT NULL,
    changed_at    TEXT    NOT NULL,
    run_no        INTEGER NOT NULL
);
CREATE UNIQUE INDEX record_history_by_version ON record_history (record_id, version);

-- +goose StatementBegin
CREATE TRIGGER records_keep_history AFTER UPDATE OF data ON records BEGIN
    INSERT INTO record_history (record_id, version, data, emitted_at, semantic_time, seq, changed_at, run_no)
    VALUES (old.id, old.version, old.data, old.emitted_at, old.semantic_time, old.seq, old.changed_at, old.run_no);
END;
-- +goose StatementEnd

CREATE VIRTUAL TABLE record_search USING fts5 (
    body, content = '', contentless_delete = 1, detail = full, tokenize = 'unicode61 remove_diacritics 0'
);

CREATE TABLE connector_state (
    connection_id TEXT    NOT NULL REFERENCES connections (connection_id),
    stream        TEXT    NOT NULL,
    mode          TEXT    NOT NULL,
    grant_id      TEXT    NOT NULL,
    cursor_json   TEXT,
    commit_id     INTEGER NOT NULL,
    run_id        TEXT    NOT NULL,
    updated_at    TEXT    NOT NULL,
    PRIMARY KEY (connection_id, stream, mode, grant_id)
);

CREATE TABLE cursor_log (
    commit_id     INTEGER PRIMARY KEY AUTOINCREMENT,
    connection_id TEXT    NOT NULL REFERENCES connections (connection_id),
    stream        TEXT    NOT NULL,
    mode          TEXT    NOT NULL,
    grant_id      TEXT    NOT NULL,
    cursor_json   TEXT,
    run_id        TEXT    NOT NULL,
    cause         TEXT    NOT NULL,
    stream_seq    INTEGER NOT NULL,
    at            TEXT    NOT NULL
);
CREATE INDEX cursor_log_by_bookmark ON cursor_log (connection_id, stream, mode, grant_id, commit_id);

CREATE TABLE connector_detail_gaps (
    gap_id              TEXT    NOT NULL PRIMARY KEY,
    connection_id       TEXT    NOT NULL REFERENCES connections (connection_id),
    connector_id        TEXT    NOT NULL,
    grant_id            TEXT    NOT NULL,
    stream              TEXT    NOT NULL,
    parent_stream       TEXT    NOT NULL,
    record_key          TEXT    NOT NULL,
    reason              TEXT    NOT NULL,
    status              TEXT    NOT NULL,
    detail_locator_json TEXT,
    list_cursor_json    TEXT,
    last_error_json     TEXT,
    attempt_count       INTEGER NOT NULL,
    last_attempt_at     TEXT,
    next_attempt_after  TEXT,
    discovered_run_id   TEXT    NOT NULL,
    last_run_id         TEXT    NOT NULL,
    recovered_run_id    TEXT,
    lease_run_id        TEXT,
    lease_id            TEXT,
    lease_attempted     INTEGER NOT NULL,
    lease_expires_at    TEXT,
    served_run_id       TEXT, -- the run that has had this gap and does not get it again
    ignored_why         TEXT    NOT NULL, -- the owner's reason; empty when not ignored
    created_at          TEXT    NOT NULL,
    updated_at          TEXT    NOT NULL
);
CREATE INDEX connector_detail_gaps_by_status ON connector_detail_gaps (connection_id, status);
CREATE INDEX connector_detail_gaps_by_key ON connector_detail_gaps (connection_id, stream, record_key);
CREATE INDEX connector_detail_gaps_leased ON connector_detail_gaps (lease_run_id) WHERE lease_run_id IS NOT NULL;

CREATE TABLE interactions (
    run_id        TEXT NOT NULL,
    request_id    TEXT NOT NULL,
    connection_id TEXT NOT NULL REFERENCES connections (connection_id),
    kind          TEXT NOT NULL,
    message       TEXT NOT NULL,
    schema_json   TEXT,
    stream        TEXT NOT NULL,
    opened_at     TEXT NOT NULL,
    expires_at    TEXT,
    closed_at     TEXT,
    status        TEXT NOT NULL,
    PRIMARY KEY (run_id, request_id)
);
CREATE INDEX interactions_open ON interactions (connection_id) WHERE closed_at IS NULL;

CREATE TABLE connector_schedules (
    connection_id    TEXT    NOT NULL PRIMARY KEY REFERENCES connections (connection_id),
    interval_seconds INTEGER NOT NULL,
    jitter_seconds   INTEGER NOT NULL,
    enabled          INTEGER NOT NULL,
    created_at       TEXT    NOT NULL,
    updated_at       TEXT    NOT NULL
);

CREATE TABLE connection_credentials (
    connection_id    TEXT NOT NULL PRIMARY KEY REFERENCES connections (connection_id),
    credential_kind  TEXT NOT NULL,
    sealed_secret    BLOB NOT NULL,
    fingerprint      TEXT NOT NULL,
    status           TEXT NOT NULL,
    captured_at      TEXT NOT NULL,
    rejected_at      TEXT,
    rejection_reason TEXT NOT NULL
);

CREATE TABLE device_exporters (
    device_id                  TEXT NOT NULL PRIMARY KEY,
    display_name               TEXT NOT NULL,
    status                     TEXT NOT NULL,
    agent_version              TEXT NOT NULL,
    collector_protocol_version TEXT NOT NULL,
    last_heartbeat_at          TEXT,
    last_error_json            TEXT,
    created_at                 TEXT NOT NULL,
    updated_at                 TEXT NOT NULL,
    revoked_at                 TEXT
);

CREATE TABLE device_source_instances (
    source_instance_id      TEXT    NOT NULL PRIMARY KEY,
    device_id               TEXT    NOT NULL REFERENCES device_exporters (device_id),
    connector_id            TEXT    NOT NULL,
    connection_id           TEXT    NOT NULL,
    local_binding_id        TEXT    NOT NULL,
    source_kind             TEXT    NOT NULL,
    display_name            TEXT    NOT NULL,
    status                  TEXT    NOT NULL,
    last_error_json         TEXT,
    last_heartbeat_at       TEXT,
    last_heartbeat_status   TEXT    NOT NULL,
    records_pending         INTEGER,
    outbox_diagnostics_json TEXT,
    manifest_generation     INTEGER NOT NULL,
    created_at              TEXT    NOT NULL,
    updated_at              TEXT    NOT NULL,
    revoked_at              TEXT
);
