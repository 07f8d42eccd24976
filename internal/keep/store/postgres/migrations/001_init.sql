-- Times are UTC text of fixed width, JSON is text kept byte for byte, booleans
-- are 0 or 1. SQLite has the same tables and columns. What is compared or ordered
-- is so by its bytes, whatever the locale of the database.

-- +goose Up
CREATE TABLE store_check (
    writes BIGINT  NOT NULL
);
INSERT INTO store_check (writes) VALUES (0);

CREATE TABLE connector_manifests (
    connector_id TEXT COLLATE "C" NOT NULL,
    generation   BIGINT  NOT NULL,
    body         TEXT    NOT NULL,
    created_at   TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (connector_id, generation)
);

CREATE TABLE connections (
    connection_id       TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    connector_id        TEXT COLLATE "C" NOT NULL,
    display_name        TEXT    NOT NULL,
    status              TEXT    NOT NULL,
    source_kind         TEXT    NOT NULL,
    source_binding_json TEXT,
    manifest_generation BIGINT  NOT NULL,
    created_at          TEXT COLLATE "C" NOT NULL,
    updated_at          TEXT COLLATE "C" NOT NULL
);

CREATE TABLE run_history (
    run_no                   BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_id                   TEXT COLLATE "C" NOT NULL UNIQUE,
    connection_id            TEXT COLLATE "C" NOT NULL REFERENCES connections (connection_id),
    connector_id             TEXT COLLATE "C" NOT NULL,
    trigger_kind             TEXT    NOT NULL,
    recovery_only            INTEGER NOT NULL,
    status                   TEXT    NOT NULL,
    records_emitted          BIGINT  NOT NULL DEFAULT 0,
    reported_records_emitted BIGINT,
    failure_reason           TEXT    NOT NULL DEFAULT '',
    terminal_reason          TEXT    NOT NULL DEFAULT '',
    error                    TEXT    NOT NULL DEFAULT '',
    connector_error_json     TEXT,
    checkpoint_summary_json  TEXT,
    known_gaps_json          TEXT,
    facts_json               TEXT,
    started_at               TEXT COLLATE "C" NOT NULL,
    completed_at             TEXT COLLATE "C"
);
CREATE INDEX run_history_by_connection ON run_history (connection_id, started_at);

CREATE TABLE run_leases (
    connection_id    TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES connections (connection_id),
    run_id           TEXT COLLATE "C" UNIQUE, -- NULL while the connection is free
    run_no           BIGINT,
    holder           TEXT    NOT NULL,
    generation       BIGINT  NOT NULL, -- rises with every run and never falls
    expires_at       TEXT COLLATE "C",
    cancel_requested INTEGER NOT NULL,
    event_seq        BIGINT  NOT NULL -- of the run's newest event
);

CREATE TABLE run_events (
    run_no      BIGINT  NOT NULL,
    event_seq   BIGINT  NOT NULL,
    event_type  TEXT    NOT NULL,
    occurred_at TEXT COLLATE "C" NOT NULL,
    stream      TEXT COLLATE "C" NOT NULL,
    data_json   TEXT,
    PRIMARY KEY (run_no, event_seq)
);

CREATE TABLE streams (
    stream_id       BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    connection_id   TEXT COLLATE "C" NOT NULL REFERENCES connections (connection_id),
    name            TEXT COLLATE "C" NOT NULL,
    last_seq        BIGINT  NOT NULL, -- the highest sequence number handed out
    search_seq      BIGINT  NOT NULL, -- rows up to here are in record_search
    search_fields   TEXT    NOT NULL, -- JSON array
    declared_run_no BIGINT  NOT NULL, -- the newest run that may write the stream
    UNIQUE (connection_id, name)
);

-- A tombstone is a row without data.
CREATE TABLE records (
    id            BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    stream_id     BIGINT  NOT NULL,
    record_key    TEXT COLLATE "C" NOT NULL,
    data          TEXT,
    emitted_at    TEXT COLLATE "C" NOT NULL,
    semantic_time TEXT    NOT NULL,
    seq           BIGINT  NOT NULL,
    version       BIGINT  NOT NULL,
    changed_at    TEXT COLLATE "C" NOT NULL,
    run_no        BIGINT  NOT NULL,
    deleted       INTEGER GENERATED ALWAYS AS (CASE WHEN data IS NULL THEN 1 ELSE 0 END) STORED
);
CREATE UNIQUE INDEX records_by_key ON records (stream_id, record_key);
CREATE INDEX records_by_seq ON records (stream_id, seq);
CREATE INDEX records_deleted ON records (stream_id) WHERE data IS NULL;

CREATE TABLE record_history (
    record_id     BIGINT  NOT NULL,
    version       BIGINT  NOT NULL,
    data          TEXT,
    emitted_at    TEXT COLLATE "C" NOT NULL,
    semantic_time TEXT    NOT NULL,
    seq           BIGINT  NOT NULL,
    changed_at    TEXT COLLATE "C" NOT NULL,
    run_no        BIGINT  NOT NULL
);
CREATE UNIQUE INDEX record_history_by_version ON record_history (record_id, version);

-- One statement writes many records, so one statement keeps what they replace.
-- +goose StatementBegin
CREATE FUNCTION records_keep_history() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO record_history (record_id, version, data, emitted_at, semantic_time, seq, changed_at, run_no)
    SELECT id, version, data, emitted_at, semantic_time, seq, changed_at, run_no FROM replaced;
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER records_keep_history AFTER UPDATE ON records
    REFERENCING OLD TABLE AS replaced FOR EACH STATEMENT EXECUTE FUNCTION records_keep_history();

-- The vectors hold lower-case words as the program splits them: the same in every locale.
CREATE TABLE record_search (
    record_id BIGINT   NOT NULL PRIMARY KEY,
    body      TSVECTOR NOT NULL
);
CREATE INDEX record_search_body ON record_search USING gin (body);

CREATE TABLE connector_state (
    connection_id TEXT COLLATE "C" NOT NULL REFERENCES connections (connection_id),
    stream        TEXT COLLATE "C" NOT NULL,
    mode          TEXT COLLATE "C" NOT NULL,
    grant_id      TEXT COLLATE "C" NOT NULL,
    cursor_json   TEXT,
    commit_id     BIGINT  NOT NULL,
    run_id        TEXT COLLATE "C" NOT NULL,
    updated_at    TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (connection_id, stream, mode, grant_id)
);

CREATE TABLE cursor_log (
    commit_id     BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    connection_id TEXT COLLATE "C" NOT NULL REFERENCES connections (connection_id),
    stream        TEXT COLLATE "C" NOT NULL,
    mode          TEXT COLLATE "C" NOT NULL,
    grant_id      TEXT COLLATE "C" NOT NULL,
    cursor_json   TEXT,
    run_id        TEXT COLLATE "C" NOT NULL,
    cause         TEXT    NOT NULL,
    stream_seq    BIGINT  NOT NULL,
    at            TEXT COLLATE "C" NOT NULL
);
CREATE INDEX cursor_log_by_bookmark ON cursor_log (connection_id, stream, mode, grant_id, commit_id);

CREATE TABLE connector_detail_gaps (
    gap_id              TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    connection_id       TEXT COLLATE "C" NOT NULL REFERENCES connections (connection_id),
    connector_id        TEXT COLLATE "C" NOT NULL,
    grant_id            TEXT COLLATE "C" NOT NULL,
    stream              TEXT COLLATE "C" NOT NULL,
    parent_stream       TEXT COLLATE "C" NOT NULL,
    record_key          TEXT COLLATE "C" NOT NULL,
    reason              TEXT    NOT NULL,
    status              TEXT    NOT NULL,
    detail_locator_json TEXT,
    list_cursor_json    TEXT,
    last_error_json     TEXT,
    attempt_count       INTEGER NOT NULL,
    last_attempt_at     TEXT COLLATE "C",
    next_attempt_after  TEXT COLLATE "C",
    discovered_run_id   TEXT COLLATE "C" NOT NULL,
    last_run_id         TEXT COLLATE "C" NOT NULL,
    recovered_run_id    TEXT COLLATE "C",
    lease_run_id        TEXT COLLATE "C",
    lease_id            TEXT COLLATE "C",
    lease_attempted     INTEGER NOT NULL,
    lease_expires_at    TEXT COLLATE "C",
    served_run_id       TEXT COLLATE "C" , -- the run that has had this gap and does not get it again
    ignored_why         TEXT    NOT NULL, -- the owner's reason; empty when not ignored
    created_at          TEXT COLLATE "C" NOT NULL,
    updated_at          TEXT COLLATE "C" NOT NULL
);
CREATE INDEX connector_detail_gaps_by_status ON connector_detail_gaps (connection_id, status);
CREATE INDEX connector_detail_gaps_by_key ON connector_detail_gaps (connection_id, stream, record_key);
CREATE INDEX connector_detail_gaps_leased ON connector_detail_gaps (lease_run_id) WHERE lease_run_id IS NOT NULL;

CREATE TABLE interactions (
    run_id        TEXT COLLATE "C" NOT NULL,
    request_id    TEXT COLLATE "C" NOT NULL,
    connection_id TEXT COLLATE "C" NOT NULL REFERENCES connections (connection_id),
    kind          TEXT NOT NULL,
    message       TEXT NOT NULL,
    schema_json   TEXT,
    stream        TEXT COLLATE "C" NOT NULL,
    opened_at     TEXT COLLATE "C" NOT NULL,
    expires_at    TEXT COLLATE "C",
    closed_at     TEXT COLLATE "C",
    status        TEXT NOT NULL,
    PRIMARY KEY (run_id, request_id)
);
CREATE INDEX interactions_open ON interactions (connection_id) WHERE closed_at IS NULL;

CREATE TABLE connector_schedules (
    connection_id    TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES connections (connection_id),
    interval_seconds BIGINT  NOT NULL,
    jitter_seconds   BIGINT  NOT NULL,
    enabled          INTEGER NOT NULL,
    created_at       TEXT COLLATE "C" NOT NULL,
    updated_at       TEXT COLLATE "C" NOT NULL
);

CREATE TABLE connection_credentials (
    connection_id    TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES connections (connection_id),
    credential_kind  TEXT NOT NULL,
    sealed_secret    BYTEA NOT NULL,
    fingerprint      TEXT NOT NULL,
    status           TEXT NOT NULL,
    captured_at      TEXT COLLATE "C" NOT NULL,
    rejected_at      TEXT COLLATE "C",
    rejection_reason TEXT NOT NULL
);

CREATE TABLE device_exporters (
    device_id                  TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    display_name               TEXT NOT NULL,
    status                     TEXT NOT NULL,
    agent_version              TEXT NOT NULL,
    collector_protocol_version TEXT NOT NULL,
    last_heartbeat_at          TEXT COLLATE "C",
    last_error_json            TEXT,
    created_at                 TEXT COLLATE "C" NOT NULL,
    updated_at                 TEXT COLLATE "C" NOT NULL,
    revoked_at                 TEXT COLLATE "C"
);

CREATE TABLE device_source_instances (
    source_instance_id      TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    device_id               TEXT COLLATE "C" NOT NULL REFERENCES device_exporters (device_id),
    connector_id            TEXT COLLATE "C" NOT NULL,
    connection_id           TEXT COLLATE "C" NOT NULL,
    local_binding_id        TEXT COLLATE "C" NOT NULL,
    source_kind             TEXT    NOT NULL,
    display_name            TEXT    NOT NULL,
    status                  TEXT    NOT NULL,
    last_error_json         TEXT,
    last_heartbeat_at       TEXT COLLATE "C",
    last_heartbeat_status   TEXT    NOT NULL,
    records_pending         BIGINT,
    outbox_diagnostics_json TEXT,
    manifest_generation     BIGINT  NOT NULL,
    created_at              TEXT COLLATE "C" NOT NULL,
    updated_at              TEXT COLLATE "C" NOT NULL,
    revoked_at              TEXT COLLATE "C"
);
