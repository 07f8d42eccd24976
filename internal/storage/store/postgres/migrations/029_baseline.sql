-- The whole schema at version 29, for a new database. Later versions are files of their own beside this one, which
-- stays as it is. SQLite has the same tables and columns.
--
-- Times are UTC text of fixed width, JSON is text kept byte for byte, booleans are 0 or 1. A column whose name ends
-- in _hash holds the SHA-256 of a secret, never the secret. A sealed column is encrypted with the owner's key.
-- COLLATE "C" compares and sorts by bytes, in every locale of the database.


-- Connectors and connections ---------------------------------------------------------------------------------------

CREATE TABLE connector_manifests (
    connector_id TEXT COLLATE "C" NOT NULL,
    generation   BIGINT           NOT NULL,
    body         TEXT             NOT NULL,
    created_at   TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (connector_id, generation)
);

-- Foreign connectors that the owner has confirmed, as they were at that time.
CREATE TABLE connector_confirmations (
    connector_id   TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    executable     TEXT             NOT NULL, -- SHA-256 of the program
    variables_json TEXT             NOT NULL, -- the environment variables that it receives
    paths_json     TEXT             NOT NULL, -- the variables that hold paths which it may read
    confirmed_at   TEXT COLLATE "C" NOT NULL
);

CREATE TABLE connections (
    connection_id       TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    connector_id        TEXT COLLATE "C" NOT NULL,
    display_name        TEXT             NOT NULL,
    status              TEXT             NOT NULL,
    source_kind         TEXT             NOT NULL,
    source_binding_json TEXT,
    manifest_generation BIGINT           NOT NULL,
    created_at          TEXT COLLATE "C" NOT NULL,
    updated_at          TEXT COLLATE "C" NOT NULL,
    look_at             TEXT COLLATE "C" NOT NULL DEFAULT '', -- the scheduler's next check; empty: now, sorts first
    touches             BIGINT           NOT NULL DEFAULT 0,  -- rises with every change to its evidence
    local_binding       TEXT COLLATE "C" NOT NULL DEFAULT ''  -- the device's name for it; empty: no device
);
CREATE INDEX connections_to_look_at ON connections (look_at, connection_id) WHERE status NOT IN ('revoked', 'draft');
CREATE UNIQUE INDEX connections_by_local_binding ON connections (connector_id, local_binding)
    WHERE local_binding <> '' AND status <> 'revoked';

CREATE TABLE connector_schedules (
    connection_id    TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES connections (connection_id),
    interval_seconds BIGINT           NOT NULL,
    jitter_seconds   BIGINT           NOT NULL,
    enabled          INTEGER          NOT NULL,
    created_at       TEXT COLLATE "C" NOT NULL,
    updated_at       TEXT COLLATE "C" NOT NULL
);

-- Credentials. A token that expires is refreshed by one process at a time.
CREATE TABLE connection_credentials (
    connection_id         TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES connections (connection_id),
    credential_kind       TEXT             NOT NULL,
    sealed_secret         BYTEA            NOT NULL,
    fingerprint           TEXT             NOT NULL,
    status                TEXT             NOT NULL,
    captured_at           TEXT COLLATE "C" NOT NULL,
    rejected_at           TEXT COLLATE "C",
    rejection_reason      TEXT             NOT NULL,
    generation            BIGINT           NOT NULL DEFAULT 1,
    renewable             BIGINT           NOT NULL DEFAULT 0,
    token_expires_at      TEXT COLLATE "C", -- NULL: not known
    refresh_begun_until   TEXT COLLATE "C", -- NULL: no process is refreshing it
    refresh_unanswered    BIGINT           NOT NULL DEFAULT 0,
    refresh_failures      BIGINT           NOT NULL DEFAULT 0,
    refresh_failing_since TEXT COLLATE "C",
    refresh_next_at       TEXT COLLATE "C"
);

-- Sign-ins at a provider that wait for the provider's answer.
CREATE TABLE provider_sign_ins (
    mark          TEXT COLLATE "C" NOT NULL PRIMARY KEY, -- digest of the value that the answer must contain
    binder        TEXT COLLATE "C" NOT NULL, -- the session or token that started it
    connection_id TEXT COLLATE "C" NOT NULL REFERENCES connections (connection_id),
    sealed        BYTEA            NOT NULL,
    expires_at    TEXT COLLATE "C" NOT NULL,
    next_poll_at  TEXT COLLATE "C" NOT NULL
);

-- Browser profiles, kept between runs.
CREATE TABLE browser_profiles (
    connection_id TEXT COLLATE "C" NOT NULL REFERENCES connections (connection_id),
    name          TEXT COLLATE "C" NOT NULL,
    generation    BIGINT           NOT NULL,
    account_mac   TEXT             NOT NULL,
    sealed        BYTEA            NOT NULL,
    sealed_at     TEXT COLLATE "C" NOT NULL,
    bytes         BIGINT           NOT NULL,
    PRIMARY KEY (connection_id, name)
);
-- Sealed bytes cannot be compressed.
ALTER TABLE browser_profiles ALTER COLUMN sealed SET STORAGE EXTERNAL;


-- Runs -------------------------------------------------------------------------------------------------------------

CREATE TABLE run_history (
    run_no                   BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_id                   TEXT COLLATE "C" NOT NULL UNIQUE,
    connection_id            TEXT COLLATE "C" NOT NULL REFERENCES connections (connection_id),
    connector_id             TEXT COLLATE "C" NOT NULL,
    trigger_kind             TEXT             NOT NULL,
    recovery_only            INTEGER          NOT NULL,
    status                   TEXT             NOT NULL,
    records_emitted          BIGINT           NOT NULL DEFAULT 0,
    reported_records_emitted BIGINT,
    failure_reason           TEXT             NOT NULL DEFAULT '',
    terminal_reason          TEXT             NOT NULL DEFAULT '',
    error                    TEXT             NOT NULL DEFAULT '',
    connector_error_json     TEXT,
    checkpoint_summary_json  TEXT,
    known_gaps_json          TEXT,
    facts_json               TEXT,
    started_at               TEXT COLLATE "C" NOT NULL,
    completed_at             TEXT COLLATE "C",
    collection_rate_json     TEXT,
    records_committed        BIGINT, -- NULL when only checkpoint_summary_json has the number
    gaps_recovered           BIGINT, -- NULL when not counted
    grant_id                 TEXT COLLATE "C" NOT NULL DEFAULT '', -- that requested the run; empty: owner, schedule
    source_instance_id       TEXT             NOT NULL DEFAULT ''  -- the device source that made the run
);
CREATE INDEX run_history_by_connection ON run_history (connection_id, started_at);
CREATE INDEX run_history_ended ON run_history (connection_id, run_no) WHERE status NOT IN ('running', 'skipped');
CREATE INDEX run_history_succeeded ON run_history (connection_id, run_no) WHERE status = 'succeeded';
CREATE INDEX run_history_of_grants ON run_history (grant_id) WHERE grant_id <> '' AND status = 'running';

CREATE TABLE run_leases (
    connection_id    TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES connections (connection_id),
    run_id           TEXT COLLATE "C" UNIQUE, -- NULL while the connection is free
    run_no           BIGINT,
    holder           TEXT             NOT NULL,
    generation       BIGINT           NOT NULL, -- rises with every run and never falls
    expires_at       TEXT COLLATE "C",
    cancel_requested INTEGER          NOT NULL,
    event_seq        BIGINT           NOT NULL -- of the run's newest event
);
CREATE INDEX run_leases_active ON run_leases (connection_id) WHERE run_id IS NOT NULL;
CREATE INDEX run_leases_by_expiry ON run_leases (expires_at) WHERE run_id IS NOT NULL;
CREATE INDEX run_leases_cancelled ON run_leases (run_id) WHERE cancel_requested = 1;

CREATE TABLE run_events (
    run_no      BIGINT           NOT NULL,
    event_seq   BIGINT           NOT NULL,
    event_type  TEXT             NOT NULL,
    occurred_at TEXT COLLATE "C" NOT NULL,
    stream      TEXT COLLATE "C" NOT NULL,
    data_json   TEXT,
    PRIMARY KEY (run_no, event_seq)
);

-- Runs that wait for a worker: one for the owner and one for each grant.
CREATE TABLE run_requests (
    connection_id TEXT COLLATE "C" NOT NULL REFERENCES connections (connection_id),
    trigger_kind  TEXT             NOT NULL,
    recovery_only INTEGER          NOT NULL,
    requested_at  TEXT COLLATE "C" NOT NULL,
    scope_json    TEXT             NOT NULL DEFAULT '', -- JSON array of stream scopes; empty: none
    whole         INTEGER          NOT NULL DEFAULT 1, -- 1: a run without these limits was requested as well
    ask_anyway    INTEGER          NOT NULL DEFAULT 0, -- 1: run although the provider asked for a pause
    grant_id      TEXT COLLATE "C" NOT NULL DEFAULT '', -- empty: the owner or a schedule
    PRIMARY KEY (connection_id, grant_id)
);

-- Questions of a run to the owner.
CREATE TABLE interactions (
    run_id            TEXT COLLATE "C" NOT NULL,
    request_id        TEXT COLLATE "C" NOT NULL,
    connection_id     TEXT COLLATE "C" NOT NULL REFERENCES connections (connection_id),
    kind              TEXT             NOT NULL,
    message           TEXT             NOT NULL,
    schema_json       TEXT,
    stream            TEXT COLLATE "C" NOT NULL,
    opened_at         TEXT COLLATE "C" NOT NULL,
    expires_at        TEXT COLLATE "C",
    closed_at         TEXT COLLATE "C",
    status            TEXT             NOT NULL,
    answer_key        BYTEA, -- NULL again when the question is closed, as is sealed_answer
    sealed_answer     BYTEA,
    page_ticket       BYTEA, -- digest of a one-time secret for the run's browser page; NULL when used or closed
    page_ticket_until TEXT,
    PRIMARY KEY (run_id, request_id)
);
CREATE INDEX interactions_open ON interactions (connection_id) WHERE closed_at IS NULL;
CREATE INDEX interactions_answered ON interactions (run_id, request_id) WHERE sealed_answer IS NOT NULL;


-- Records ----------------------------------------------------------------------------------------------------------

CREATE TABLE streams (
    stream_id       BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    connection_id   TEXT COLLATE "C" NOT NULL REFERENCES connections (connection_id),
    name            TEXT COLLATE "C" NOT NULL,
    last_seq        BIGINT           NOT NULL, -- the highest sequence number in use
    search_seq      BIGINT           NOT NULL, -- rows up to here are in record_search
    search_fields   TEXT             NOT NULL, -- JSON array
    declared_run_no BIGINT           NOT NULL, -- the newest run that may write the stream
    live_records    BIGINT           NOT NULL DEFAULT 0, -- records that are not tombstones
    changed_at      TEXT COLLATE "C", -- of the newest change
    facts_json      TEXT, -- the findings of the newest run that measured the stream
    facts_run_id    TEXT COLLATE "C",
    facts_status    TEXT,
    facts_at        TEXT COLLATE "C",
    deleted_records BIGINT           NOT NULL DEFAULT 0,  -- tombstones
    time_field      TEXT COLLATE "C" NOT NULL DEFAULT '', -- the field with the semantic time; empty for none
    time_seq        BIGINT           NOT NULL DEFAULT 0,  -- rows up to here have the semantic time of time_field
    imported        BIGINT           NOT NULL DEFAULT 0,  -- 1: some records came from imported files
    count_seq       BIGINT           NOT NULL DEFAULT 0,  -- rows up to here are in day_counts and month_counts
    files           BIGINT           NOT NULL DEFAULT 0,  -- different files that its records refer to
    file_bytes      BIGINT           NOT NULL DEFAULT 0,
    shared_bytes    BIGINT           NOT NULL DEFAULT 0,  -- summed over all streams: bytes that file_bytes counts again
    purged_seq      BIGINT           NOT NULL DEFAULT 0,  -- tombstones up to here may be removed for good
    UNIQUE (connection_id, name)
);

-- A tombstone is a row without data.
CREATE TABLE records (
    id            BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    stream_id     BIGINT           NOT NULL,
    record_key    TEXT COLLATE "C" NOT NULL,
    data          TEXT,
    emitted_at    TEXT COLLATE "C" NOT NULL,
    semantic_time TEXT COLLATE "C" NOT NULL,
    seq           BIGINT           NOT NULL,
    version       BIGINT           NOT NULL,
    changed_at    TEXT COLLATE "C" NOT NULL,
    run_no        BIGINT           NOT NULL,
    deleted       INTEGER GENERATED ALWAYS AS (CASE WHEN data IS NULL THEN 1 ELSE 0 END) STORED
);
CREATE UNIQUE INDEX records_by_key ON records (stream_id, record_key);
CREATE INDEX records_by_seq ON records (stream_id, seq);
CREATE INDEX records_deleted ON records (stream_id) WHERE data IS NULL;
CREATE INDEX records_by_time ON records (stream_id, semantic_time, id) WHERE deleted = 0 AND semantic_time <> '';

-- Earlier versions of records, written by the trigger.
CREATE TABLE record_history (
    record_id     BIGINT           NOT NULL,
    version       BIGINT           NOT NULL,
    data          TEXT,
    emitted_at    TEXT COLLATE "C" NOT NULL,
    semantic_time TEXT COLLATE "C" NOT NULL,
    seq           BIGINT           NOT NULL,
    changed_at    TEXT COLLATE "C" NOT NULL,
    run_no        BIGINT           NOT NULL
);
CREATE UNIQUE INDEX record_history_by_version ON record_history (record_id, version);

-- One statement writes many records, so one statement keeps the versions that it replaces. The upkeep that aligns
-- semantic times with a new declaration changes no record: it sets pdpp.aligning.
CREATE FUNCTION records_keep_history() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO record_history (record_id, version, data, emitted_at, semantic_time, seq, changed_at, run_no)
    SELECT id, version, data, emitted_at, semantic_time, seq, changed_at, run_no FROM replaced;
    RETURN NULL;
END $$;
CREATE TRIGGER records_keep_history AFTER UPDATE ON records
    REFERENCING OLD TABLE AS replaced FOR EACH STATEMENT
    WHEN (current_setting('pdpp.aligning', true) IS DISTINCT FROM 'on') EXECUTE FUNCTION records_keep_history();

-- The full-text index: lower-case words as the program splits them, the same in every locale.
CREATE TABLE record_search (
    record_id BIGINT   NOT NULL PRIMARY KEY,
    body      TSVECTOR NOT NULL
);
CREATE INDEX record_search_body ON record_search USING gin (body);

-- Live records by the day, and by the month, of their semantic time.
CREATE TABLE day_counts (
    stream_id BIGINT           NOT NULL,
    day       TEXT COLLATE "C" NOT NULL, -- 2026-03-04 in UTC; empty: no time
    records   BIGINT           NOT NULL,
    bytes     BIGINT           NOT NULL, -- of their data
    PRIMARY KEY (stream_id, day)
);

CREATE TABLE month_counts (
    stream_id BIGINT           NOT NULL,
    month     TEXT COLLATE "C" NOT NULL, -- 2026-03
    records   BIGINT           NOT NULL,
    bytes     BIGINT           NOT NULL,
    PRIMARY KEY (stream_id, month)
);

CREATE TABLE saved_searches (
    search_id  TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name       TEXT COLLATE "C" NOT NULL UNIQUE,
    address    TEXT             NOT NULL, -- path and query on this server
    created_at TEXT COLLATE "C" NOT NULL
);


-- Functions that read fields of records ----------------------------------------------------------------------------

-- SQLite has these as functions of the program.

-- record_holds and record_pick leave a record to the program if its text has escapes that PostgreSQL refuses.
CREATE FUNCTION record_holds(data text, field text, value text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE
        WHEN data !~ '^\s*\{' OR strpos(data, '\u') > 0 AND data ~* '\\u(0000|d[89a-f])' THEN NULL
        ELSE coalesce((data::json ->> field) = value AND json_typeof(data::json -> field) IN ('string', 'number', 'boolean'), FALSE)
    END
$$;

CREATE FUNCTION record_pick(data text, fields text[]) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE
        WHEN data IS NULL OR fields IS NULL OR data !~ '^\s*\{' OR strpos(data, '\u') > 0 AND data ~* '\\u(0000|d[89a-f])' THEN data
        ELSE (SELECT '{' || coalesce(string_agg(to_json(e.key)::text || ':' || e.value::text, ',' ORDER BY e.n), '') || '}'
            FROM json_each(data::json) WITH ORDINALITY AS e (key, value, n) WHERE e.key = ANY (fields))
    END
$$;

-- record_text, record_number and record_time return the value that a field is compared, grouped and summed by.
-- Indexes hold their results, so they never change: a better function gets another name. They call only built-in
-- functions, because the server finds no others while it builds an index. They first replace the escapes that the
-- server refuses, NUL and halves of surrogate pairs, with U+FFFD. An escaped backslash is spelled differently before
-- that, so that every remaining \u is an escape.
CREATE FUNCTION record_text(data text, field text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    value json;
BEGIN
    IF data !~ '^\s*\{' THEN
        RETURN NULL;
    END IF;
    IF strpos(data, '\u') > 0 AND data ~* '\\u(0000|d[89a-f])' THEN
        data := replace(data, '\\', '\u005c');
        data := regexp_replace(data, '\\u0000|\\ud[89ab][0-9a-f]{2}(?!\\ud[c-f][0-9a-f]{2})|(?<!\\ud[89ab][0-9a-f]{2})\\ud[c-f][0-9a-f]{2}', '\\ufffd', 'gi');
    END IF;
    value := data::json -> field;
    IF json_typeof(value) IN ('string', 'number', 'boolean') THEN
        RETURN left(value #>> '{}', 200);
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION record_number(data text, field text) RETURNS float8
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    value json;
    written text;
BEGIN
    IF data !~ '^\s*\{' THEN
        RETURN NULL;
    END IF;
    IF strpos(data, '\u') > 0 AND data ~* '\\u(0000|d[89a-f])' THEN
        data := replace(data, '\\', '\u005c');
        data := regexp_replace(data, '\\u0000|\\ud[89ab][0-9a-f]{2}(?!\\ud[c-f][0-9a-f]{2})|(?<!\\ud[89ab][0-9a-f]{2})\\ud[c-f][0-9a-f]{2}', '\\ufffd', 'gi');
    END IF;
    value := data::json -> field;
    IF json_typeof(value) = 'number' THEN
        written := value #>> '{}';
        -- Nothing that passes is out of the range of double precision.
        IF written ~ '^-?[0-9]{1,200}(\.[0-9]{1,100})?([eE][+-]?[0-9]{1,2})?$' THEN
            RETURN written::float8 + 0;
        END IF;
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION record_time(data text, field text) RETURNS float8
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    value json;
    part text[];
    day date;
    second bigint;
BEGIN
    IF data !~ '^\s*\{' THEN
        RETURN NULL;
    END IF;
    IF strpos(data, '\u') > 0 AND data ~* '\\u(0000|d[89a-f])' THEN
        data := replace(data, '\\', '\u005c');
        data := regexp_replace(data, '\\u0000|\\ud[89ab][0-9a-f]{2}(?!\\ud[c-f][0-9a-f]{2})|(?<!\\ud[89ab][0-9a-f]{2})\\ud[c-f][0-9a-f]{2}', '\\ufffd', 'gi');
    END IF;
    value := data::json -> field;
    IF json_typeof(value) IS DISTINCT FROM 'string' THEN
        RETURN NULL;
    END IF;
    part := regexp_match(value #>> '{}', '^([0-9]{4})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])' ||
        '(?:T([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9])(?:\.([0-9]{1,9}))?(?:Z|([+-])([01][0-9]|2[0-3]):([0-5][0-9])))?$');
    IF part IS NULL OR part[1] = '0000' THEN
        RETURN NULL;
    END IF;
    day := make_date(part[1]::integer, part[2]::integer, 1) + (part[3]::integer - 1);
    IF extract(month FROM day) <> part[2]::integer THEN
        RETURN NULL;
    END IF;
    second := (day - DATE '1970-01-01')::bigint * 86400 + coalesce(part[4], '0')::integer * 3600 + coalesce(part[5], '0')::integer * 60 + coalesce(part[6], '0')::integer
        - (coalesce(part[8], '+') || '1')::integer * (coalesce(part[9], '0')::integer * 3600 + coalesce(part[10], '0')::integer * 60);
    -- The years 1 to 9999 of UTC.
    IF second < -62135596800 OR second >= 253402300800 THEN
        RETURN NULL;
    END IF;
    RETURN second * 1000000 + rpad(left(coalesce(part[7], '0'), 6), 6, '0')::integer;
END
$$;

-- record_readable returns a record's text in a form that PostgreSQL reads: half a surrogate pair becomes the
-- replacement character, as in the program, and NUL, which no compared value can contain, a noncharacter.
CREATE FUNCTION record_readable(data text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE
        WHEN strpos(data, '\u') = 0 OR data !~* '\\u(0000|d[89a-f])' THEN data
        ELSE regexp_replace(regexp_replace(regexp_replace(replace(data, '\\', '\u005c'),
            '\\u0000', '\\uffff', 'g'),
            '\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F][0-9a-fA-F]{2})', '\\ufffd', 'g'),
            '(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}', '\\ufffd', 'g')
    END
$$;

-- record_among reports whether a field has one of the values that a grant is limited to.
CREATE FUNCTION record_among(data text, field text, vals text[]) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE
        WHEN data IS NULL OR data !~ '^\s*\{' THEN FALSE
        ELSE (SELECT coalesce((d.read ->> field) = ANY (vals) AND json_typeof(d.read -> field) IN ('string', 'number'), FALSE)
            FROM (SELECT record_readable(data)::json AS read) AS d)
    END
$$;


-- Files of records, and imported files -----------------------------------------------------------------------------

-- The content is stored outside the database, and before a row names it.
CREATE TABLE blobs (
    sha256          TEXT   NOT NULL PRIMARY KEY,
    bytes           BIGINT NOT NULL,
    stored_at       TEXT   NOT NULL,
    unreferenced_at TEXT -- since when no record refers to it; NULL while one does
);
CREATE INDEX blobs_unreferenced ON blobs (unreferenced_at) WHERE unreferenced_at IS NOT NULL;

CREATE TABLE record_blobs (
    record_id BIGINT  NOT NULL,
    position  INTEGER NOT NULL,
    field     TEXT    NOT NULL, -- of the record's data, that the file belongs to
    sha256    TEXT    NOT NULL,
    mime      TEXT    NOT NULL,
    name      TEXT    NOT NULL,
    PRIMARY KEY (record_id, position)
);
CREATE INDEX record_blobs_by_content ON record_blobs (sha256);

-- The references of record_blobs, counted by stream.
CREATE TABLE stream_files (
    sha256    TEXT COLLATE "C" NOT NULL,
    stream_id BIGINT           NOT NULL,
    uses      BIGINT           NOT NULL, -- how often its records refer to the file
    PRIMARY KEY (sha256, stream_id)
);

-- Files that the owner imported, each with a receipt.
CREATE TABLE imports (
    import_no       BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    import_id       TEXT COLLATE "C" NOT NULL UNIQUE,
    connection_id   TEXT COLLATE "C" NOT NULL REFERENCES connections (connection_id),
    path            TEXT COLLATE "C" NOT NULL, -- below the import folder of the connection
    name            TEXT COLLATE "C" NOT NULL, -- the owner's name for it
    sha256          TEXT COLLATE "C" NOT NULL, -- empty: it was put into the folder and has not been measured
    bytes           BIGINT, -- NULL: not measured
    received_at     TEXT COLLATE "C" NOT NULL,
    run_no          BIGINT, -- the newest run that read records from it; NULL before the first
    records_new     BIGINT           NOT NULL DEFAULT 0,
    records_changed BIGINT           NOT NULL DEFAULT 0,
    records_same    BIGINT           NOT NULL DEFAULT 0,
    undo_begun_at   TEXT COLLATE "C",
    undone_at       TEXT COLLATE "C",
    records_deleted BIGINT           NOT NULL DEFAULT 0 -- by undoing it
);
CREATE UNIQUE INDEX imports_by_path ON imports (connection_id, path) WHERE undone_at IS NULL;
CREATE UNIQUE INDEX imports_by_content ON imports (connection_id, sha256) WHERE undone_at IS NULL AND sha256 <> '';

-- Which records came from which file. Import 0 means that the source itself delivered the record as well.
CREATE TABLE record_imports (
    record_id BIGINT NOT NULL,
    import_no BIGINT NOT NULL,
    PRIMARY KEY (record_id, import_no)
);
CREATE INDEX record_imports_by_import ON record_imports (import_no, record_id);


-- Cursors and gaps -------------------------------------------------------------------------------------------------

-- The current cursor of each bookmark.
CREATE TABLE connector_state (
    connection_id TEXT COLLATE "C" NOT NULL REFERENCES connections (connection_id),
    stream        TEXT COLLATE "C" NOT NULL,
    mode          TEXT COLLATE "C" NOT NULL,
    grant_id      TEXT COLLATE "C" NOT NULL,
    cursor_json   TEXT,
    commit_id     BIGINT           NOT NULL,
    run_id        TEXT COLLATE "C" NOT NULL,
    updated_at    TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (connection_id, stream, mode, grant_id)
);

-- Earlier cursors, to which a bookmark can be rewound.
CREATE TABLE cursor_log (
    commit_id     BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    connection_id TEXT COLLATE "C" NOT NULL REFERENCES connections (connection_id),
    stream        TEXT COLLATE "C" NOT NULL,
    mode          TEXT COLLATE "C" NOT NULL,
    grant_id      TEXT COLLATE "C" NOT NULL,
    cursor_json   TEXT,
    run_id        TEXT COLLATE "C" NOT NULL,
    cause         TEXT             NOT NULL,
    stream_seq    BIGINT           NOT NULL,
    at            TEXT COLLATE "C" NOT NULL
);
CREATE INDEX cursor_log_by_bookmark ON cursor_log (connection_id, stream, mode, grant_id, commit_id);

-- Items that could not be fetched.
CREATE TABLE connector_detail_gaps (
    gap_id              TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    connection_id       TEXT COLLATE "C" NOT NULL REFERENCES connections (connection_id),
    connector_id        TEXT COLLATE "C" NOT NULL,
    grant_id            TEXT COLLATE "C" NOT NULL,
    stream              TEXT COLLATE "C" NOT NULL,
    parent_stream       TEXT COLLATE "C" NOT NULL,
    record_key          TEXT COLLATE "C" NOT NULL,
    reason              TEXT             NOT NULL,
    status              TEXT             NOT NULL,
    detail_locator_json TEXT,
    list_cursor_json    TEXT,
    last_error_json     TEXT,
    attempt_count       INTEGER          NOT NULL,
    last_attempt_at     TEXT COLLATE "C",
    next_attempt_after  TEXT COLLATE "C",
    discovered_run_id   TEXT COLLATE "C" NOT NULL,
    last_run_id         TEXT COLLATE "C" NOT NULL,
    recovered_run_id    TEXT COLLATE "C",
    lease_run_id        TEXT COLLATE "C",
    lease_id            TEXT COLLATE "C",
    lease_attempted     INTEGER          NOT NULL,
    lease_expires_at    TEXT COLLATE "C",
    served_run_id       TEXT COLLATE "C", -- the run that has received this gap and does not get it again
    ignored_why         TEXT             NOT NULL, -- the owner's reason; empty when not ignored
    created_at          TEXT COLLATE "C" NOT NULL,
    updated_at          TEXT COLLATE "C" NOT NULL
);
CREATE INDEX connector_detail_gaps_by_status ON connector_detail_gaps (connection_id, status);
CREATE INDEX connector_detail_gaps_by_key ON connector_detail_gaps (connection_id, stream, record_key);
CREATE INDEX connector_detail_gaps_leased ON connector_detail_gaps (lease_run_id) WHERE lease_run_id IS NOT NULL;
CREATE INDEX connector_detail_gaps_outstanding
    ON connector_detail_gaps (connection_id, stream, reason, attempt_count, next_attempt_after, status)
    WHERE status IN ('pending', 'in_progress');
CREATE INDEX connector_detail_gaps_recovered ON connector_detail_gaps (connection_id, reason)
    WHERE status = 'recovered';
CREATE INDEX connector_detail_gaps_terminal ON connector_detail_gaps (connection_id)
    WHERE status = 'terminal' AND ignored_why = '';
CREATE INDEX connector_detail_gaps_by_recovery ON connector_detail_gaps (recovered_run_id)
    WHERE recovered_run_id IS NOT NULL;


-- Waits and shared quotas ------------------------------------------------------------------------------------------

-- Times before which a provider must not receive a request.
CREATE TABLE provider_waits (
    connection_id TEXT COLLATE "C" NOT NULL REFERENCES connections (connection_id),
    sender        TEXT COLLATE "C" NOT NULL, -- which of the connector's senders
    until         TEXT COLLATE "C" NOT NULL,
    reason        TEXT             NOT NULL, -- retry_after: the provider sent it; searched: the governor found it
    noted_at      TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (connection_id, sender)
);

CREATE TABLE scheduler_backoffs (
    connection_id        TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES connections (connection_id),
    reason_class         TEXT             NOT NULL,
    consecutive_failures BIGINT           NOT NULL,
    observed_at          TEXT COLLATE "C" NOT NULL,
    next_attempt_at      TEXT COLLATE "C"
);

-- A quota that several runs share, by a keyed hash of its name. A run is a member while it holds its lease.
CREATE TABLE allowances (
    allowance_key TEXT   NOT NULL PRIMARY KEY,
    joinings      BIGINT NOT NULL,
    learned_json  TEXT, -- numbers, from the newest report of a run
    used_at       TEXT   NOT NULL
);
CREATE INDEX allowances_by_use ON allowances (used_at);

CREATE TABLE allowance_members (
    allowance_key TEXT   NOT NULL,
    run_id        TEXT   NOT NULL,
    holder        TEXT   NOT NULL,
    joined        BIGINT NOT NULL, -- the number of its joining, which no other run has
    news_json     TEXT, -- numbers, from the run's newest report
    PRIMARY KEY (allowance_key, run_id)
);
CREATE INDEX allowance_members_by_run ON allowance_members (run_id);

-- The quota that a connection's sender used last: the waits of one member apply to all.
CREATE TABLE allowance_connections (
    connection_id TEXT NOT NULL,
    sender        TEXT NOT NULL,
    allowance_key TEXT NOT NULL,
    PRIMARY KEY (connection_id, sender)
);
CREATE INDEX allowance_connections_by_key ON allowance_connections (allowance_key);


-- Workers, readiness and attention ---------------------------------------------------------------------------------

CREATE TABLE workers (
    worker_id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    host              TEXT             NOT NULL,
    pid               BIGINT           NOT NULL,
    version           TEXT             NOT NULL,
    capabilities_json TEXT             NOT NULL, -- JSON array
    slots             BIGINT           NOT NULL,
    running           BIGINT           NOT NULL,
    draining          INTEGER          NOT NULL,
    started_at        TEXT COLLATE "C" NOT NULL,
    seen_at           TEXT COLLATE "C" NOT NULL
);

-- The parts that serve every connection, each with its newest report.
CREATE TABLE runtime_components (
    name          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    status        TEXT             NOT NULL,
    reason        TEXT             NOT NULL,
    observed_at   TEXT COLLATE "C" NOT NULL,
    every_seconds BIGINT -- NULL for a part that reports only changes
);

-- What a run needs before it can start.
CREATE TABLE readiness_probes (
    connection_id TEXT COLLATE "C" NOT NULL REFERENCES connections (connection_id),
    dimension     TEXT COLLATE "C" NOT NULL,
    name          TEXT COLLATE "C" NOT NULL, -- which binding, which tool; empty when there is only one
    status        TEXT             NOT NULL,
    reason        TEXT             NOT NULL,
    observed_at   TEXT COLLATE "C" NOT NULL,
    expires_at    TEXT COLLATE "C",
    PRIMARY KEY (connection_id, dimension, name)
);

-- What the owner is asked to do.
CREATE TABLE connector_attention_records (
    attention_id            TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    connection_id           TEXT COLLATE "C" NOT NULL REFERENCES connections (connection_id),
    dedupe_key              TEXT COLLATE "C" NOT NULL, -- the same for two records that ask for the same thing
    kind                    TEXT             NOT NULL,
    satisfied_when          TEXT             NOT NULL,
    urgency                 TEXT             NOT NULL,
    affects_json            TEXT             NOT NULL, -- JSON array
    owner_copy              TEXT             NOT NULL,
    reason_code             TEXT             NOT NULL,
    occasion                TEXT             NOT NULL,
    lifecycle               TEXT COLLATE "C" NOT NULL,
    opened_at               TEXT COLLATE "C" NOT NULL,
    updated_at              TEXT COLLATE "C" NOT NULL,
    expires_at              TEXT COLLATE "C",
    closed_at               TEXT COLLATE "C",
    confirm_asked_at        TEXT COLLATE "C",
    failed_confirmations    BIGINT           NOT NULL,
    notification_state      TEXT COLLATE "C" NOT NULL,
    notification_updated_at TEXT COLLATE "C",
    notification_reason     TEXT             NOT NULL,
    revision                BIGINT           NOT NULL -- rises with every save
);
CREATE UNIQUE INDEX connector_attention_records_open ON connector_attention_records (dedupe_key)
    WHERE lifecycle IN ('open', 'acknowledged', 'in_progress');
CREATE INDEX connector_attention_records_open_by_notice ON connector_attention_records (notification_state)
    WHERE lifecycle IN ('open', 'acknowledged', 'in_progress');
CREATE INDEX connector_attention_records_by_connection ON connector_attention_records (connection_id, lifecycle);
CREATE INDEX connector_attention_records_by_close ON connector_attention_records (closed_at)
    WHERE closed_at IS NOT NULL;

CREATE TABLE push_targets (
    target_id       TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    kind            TEXT             NOT NULL,
    label           TEXT             NOT NULL,
    endpoint        TEXT COLLATE "C" NOT NULL UNIQUE,
    p256dh          TEXT             NOT NULL,
    auth            TEXT             NOT NULL,
    sealed_secret   BYTEA,
    created_at      TEXT COLLATE "C" NOT NULL,
    failures        BIGINT           NOT NULL, -- in a row
    last_success_at TEXT COLLATE "C",
    last_failure_at TEXT COLLATE "C",
    last_failure    TEXT             NOT NULL,
    retired_at      TEXT COLLATE "C"
);

CREATE TABLE settings (
    name       TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    value      BYTEA            NOT NULL,
    updated_at TEXT COLLATE "C" NOT NULL
);


-- Devices ----------------------------------------------------------------------------------------------------------

CREATE TABLE device_exporters (
    device_id                  TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    display_name               TEXT             NOT NULL,
    status                     TEXT             NOT NULL,
    agent_version              TEXT             NOT NULL,
    collector_protocol_version TEXT             NOT NULL,
    last_heartbeat_at          TEXT COLLATE "C",
    last_error_json            TEXT,
    created_at                 TEXT COLLATE "C" NOT NULL,
    updated_at                 TEXT COLLATE "C" NOT NULL,
    revoked_at                 TEXT COLLATE "C",
    last_used_at               TEXT COLLATE "C", -- when its token was last used
    last_address               TEXT             NOT NULL DEFAULT '', -- and from where
    installation               TEXT, -- that used the token last; NULL before the first use
    installation_before        TEXT, -- that used it until then
    installation_at            TEXT, -- when the installation changed
    doubled_at                 TEXT  -- when two installations last used the token in turns
);

CREATE TABLE device_source_instances (
    source_instance_id      TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    device_id               TEXT COLLATE "C" NOT NULL REFERENCES device_exporters (device_id),
    connector_id            TEXT COLLATE "C" NOT NULL,
    connection_id           TEXT COLLATE "C" NOT NULL,
    local_binding_id        TEXT COLLATE "C" NOT NULL,
    source_kind             TEXT             NOT NULL,
    display_name            TEXT             NOT NULL,
    status                  TEXT             NOT NULL,
    last_error_json         TEXT,
    last_heartbeat_at       TEXT COLLATE "C",
    last_heartbeat_status   TEXT             NOT NULL,
    records_pending         BIGINT,
    outbox_diagnostics_json TEXT,
    manifest_generation     BIGINT           NOT NULL,
    created_at              TEXT COLLATE "C" NOT NULL,
    updated_at              TEXT COLLATE "C" NOT NULL,
    revoked_at              TEXT COLLATE "C",
    generation              BIGINT           NOT NULL DEFAULT 1, -- rises when another source takes the connection over
    max_batch_seq           BIGINT           NOT NULL DEFAULT 0, -- the highest accepted
    clock_skew_s            BIGINT, -- the device's clock minus ours; NULL when not measured
    collection_scope_json   TEXT -- the most that is collected; NULL: everything
);
CREATE INDEX device_source_instances_by_connection ON device_source_instances (connection_id);
CREATE INDEX device_source_instances_by_device ON device_source_instances (device_id);

CREATE TABLE device_enrollment_codes (
    code_id               TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    code_hash             BYTEA            NOT NULL UNIQUE,
    connector_id          TEXT COLLATE "C" NOT NULL,
    local_binding_id      TEXT COLLATE "C" NOT NULL,
    display_name          TEXT             NOT NULL,
    status                TEXT             NOT NULL, -- pending, consumed, revoked
    collection_scope_json TEXT,
    device_id             TEXT COLLATE "C" REFERENCES device_exporters (device_id), -- enrolled with it
    source_instance_id    TEXT COLLATE "C" REFERENCES device_source_instances (source_instance_id),
    created_at            TEXT COLLATE "C" NOT NULL,
    expires_at            TEXT COLLATE "C" NOT NULL,
    consumed_at           TEXT COLLATE "C",
    spent_at              TEXT COLLATE "C" -- when its token was first used: the code yields no other token after that
);
CREATE INDEX device_enrollment_codes_by_expiry ON device_enrollment_codes (expires_at);

CREATE TABLE device_ingest_credentials (
    credential_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    device_id     TEXT COLLATE "C" NOT NULL REFERENCES device_exporters (device_id),
    token_hash    BYTEA            NOT NULL UNIQUE,
    status        TEXT             NOT NULL, -- active, revoked
    code_id       TEXT COLLATE "C", -- the code that it was issued for; NULL when it replaced another token
    created_at    TEXT COLLATE "C" NOT NULL,
    last_used_at  TEXT COLLATE "C", -- NULL until its first use, which revokes its predecessors
    revoked_at    TEXT COLLATE "C"
);
CREATE INDEX device_ingest_credentials_by_device ON device_ingest_credentials (device_id);

-- The answers to batches and to ends of runs. A repeated request gets the stored answer, byte for byte.
CREATE TABLE device_ingest_batch_outcomes (
    device_id          TEXT COLLATE "C" NOT NULL REFERENCES device_exporters (device_id),
    batch_id           TEXT COLLATE "C" NOT NULL,
    source_instance_id TEXT COLLATE "C" NOT NULL,
    batch_seq          BIGINT           NOT NULL,
    body_hash          TEXT             NOT NULL,
    run_id             TEXT COLLATE "C" NOT NULL,
    record_count       BIGINT           NOT NULL,
    rejected_count     BIGINT           NOT NULL,
    http_status        BIGINT           NOT NULL,
    response_json      TEXT             NOT NULL,
    created_at         TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (device_id, batch_id)
);
CREATE INDEX device_ingest_batch_outcomes_by_source ON device_ingest_batch_outcomes (source_instance_id, created_at);

CREATE TABLE device_terminal_commits (
    source_instance_id TEXT COLLATE "C" NOT NULL REFERENCES device_source_instances (source_instance_id),
    commit_id          TEXT COLLATE "C" NOT NULL,
    run_id             TEXT COLLATE "C" NOT NULL,
    envelope_hash      TEXT             NOT NULL,
    response_json      TEXT             NOT NULL,
    created_at         TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (source_instance_id, commit_id)
);


-- How the owner signs in -------------------------------------------------------------------------------------------

CREATE TABLE owner_sessions (
    session_hash BYTEA            NOT NULL PRIMARY KEY,
    data         BYTEA            NOT NULL,
    expires_at   TEXT COLLATE "C" NOT NULL
);

CREATE TABLE owner_tokens (
    token_id     TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    token_hash   BYTEA            NOT NULL UNIQUE,
    prefix       TEXT             NOT NULL,
    label        TEXT             NOT NULL,
    created_at   TEXT COLLATE "C" NOT NULL,
    expires_at   TEXT COLLATE "C",
    last_used_at TEXT COLLATE "C",
    revoked_at   TEXT COLLATE "C",
    scopes       TEXT             NOT NULL DEFAULT 'all' -- names, separated by spaces
);

-- Browsers that have signed in before.
CREATE TABLE owner_browsers (
    browser_hash BYTEA            NOT NULL PRIMARY KEY,
    created_at   TEXT COLLATE "C" NOT NULL,
    signed_in_at TEXT COLLATE "C" NOT NULL
);

CREATE TABLE owner_passkeys (
    passkey_id   TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    relying_host TEXT             NOT NULL,
    label        TEXT             NOT NULL,
    credential   BYTEA            NOT NULL, -- public key and counters
    created_at   TEXT COLLATE "C" NOT NULL,
    last_used_at TEXT COLLATE "C"
);

CREATE TABLE owner_recovery_codes (
    code_hash  BYTEA            NOT NULL PRIMARY KEY,
    created_at TEXT COLLATE "C" NOT NULL,
    used_at    TEXT COLLATE "C"
);


-- What clients may read --------------------------------------------------------------------------------------------

-- Apps that registered themselves.
CREATE TABLE oauth_clients (
    client_id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    client_name        TEXT             NOT NULL,
    redirect_uris_json TEXT             NOT NULL, -- JSON array
    created_at         TEXT COLLATE "C" NOT NULL,
    approved_at        TEXT COLLATE "C", -- of the newest grant; NULL when there was none
    ends_at            TEXT COLLATE "C" NOT NULL -- it is deleted then, unless it is used before
);
CREATE INDEX oauth_clients_by_end ON oauth_clients (ends_at);

CREATE TABLE grants (
    grant_id     TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    client_id    TEXT COLLATE "C" NOT NULL,
    client_name  TEXT             NOT NULL,
    purpose      TEXT             NOT NULL,
    mode         TEXT             NOT NULL,
    scope_json   TEXT,
    created_at   TEXT COLLATE "C" NOT NULL,
    expires_at   TEXT COLLATE "C",
    revoked_at   TEXT COLLATE "C",
    last_used_at TEXT COLLATE "C",
    uses         BIGINT           NOT NULL
);

CREATE TABLE grant_tokens (
    token_hash BYTEA            NOT NULL PRIMARY KEY,
    grant_id   TEXT COLLATE "C" NOT NULL REFERENCES grants (grant_id)
);

CREATE TABLE grant_uses (
    grant_id     TEXT COLLATE "C" NOT NULL REFERENCES grants (grant_id),
    stream       TEXT COLLATE "C" NOT NULL,
    reads        BIGINT           NOT NULL,
    records      BIGINT           NOT NULL,
    last_used_at TEXT COLLATE "C" NOT NULL,
    next_hash    BYTEA, -- of the one cursor that continues a single-use grant; NULL when there is none
    PRIMARY KEY (grant_id, stream)
);

CREATE TABLE grant_requests (
    request_id       TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    client_id        TEXT COLLATE "C" NOT NULL,
    client_name      TEXT             NOT NULL,
    redirect_uri     TEXT             NOT NULL,
    state            TEXT             NOT NULL,
    code_challenge   TEXT             NOT NULL,
    purpose          TEXT             NOT NULL,
    mode             TEXT             NOT NULL,
    scope_json       TEXT,
    grant_expires_at TEXT COLLATE "C",
    created_at       TEXT COLLATE "C" NOT NULL,
    expires_at       TEXT COLLATE "C" NOT NULL,
    decided_at       TEXT COLLATE "C",
    grant_id         TEXT COLLATE "C" REFERENCES grants (grant_id), -- NULL unless approved
    code_hash        BYTEA            UNIQUE,
    code_expires_at  TEXT COLLATE "C",
    code_spent_at    TEXT COLLATE "C"
);
CREATE INDEX grant_requests_in_vain ON grant_requests (expires_at) WHERE grant_id IS NULL;


-- The audit trail --------------------------------------------------------------------------------------------------

-- Entries are added. Equal entries fold into one, which only counts upwards. Only entries before the horizon can be
-- deleted, and the horizon never moves back.
CREATE TABLE audit_entries (
    entry_id    BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    happened_at TEXT COLLATE "C" NOT NULL,
    last_at     TEXT COLLATE "C" NOT NULL,
    kind        TEXT COLLATE "C" NOT NULL,
    outcome     TEXT             NOT NULL,
    reason      TEXT             NOT NULL,
    actor       TEXT             NOT NULL,
    actor_id    TEXT COLLATE "C" NOT NULL,
    actor_name  TEXT             NOT NULL,
    address     TEXT             NOT NULL,
    object      TEXT             NOT NULL,
    object_name TEXT             NOT NULL,
    times       BIGINT           NOT NULL,
    records     BIGINT, -- NULL where records play no part
    fold_key    TEXT COLLATE "C" UNIQUE -- NULL unless equal entries fold into this one
);
CREATE INDEX audit_entries_last ON audit_entries (last_at);

CREATE TABLE audit_horizon (before TEXT COLLATE "C" NOT NULL);
INSERT INTO audit_horizon (before) VALUES ('');

CREATE FUNCTION audit_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'an audit entry cannot be changed, nor taken away before its time';
END $$;

CREATE FUNCTION audit_stay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT coalesce(OLD.last_at < (SELECT min(before) FROM audit_horizon), false) THEN
        RAISE EXCEPTION 'an audit entry cannot be taken away before its time';
    END IF;
    RETURN OLD;
END $$;

CREATE TRIGGER audit_entries_stay BEFORE DELETE ON audit_entries
FOR EACH ROW EXECUTE FUNCTION audit_stay();

CREATE TRIGGER audit_entries_whole BEFORE TRUNCATE ON audit_entries
FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse();

CREATE TRIGGER audit_entries_hold BEFORE UPDATE ON audit_entries
FOR EACH ROW WHEN (
    OLD.fold_key IS NULL
    OR NEW.times <= OLD.times OR NEW.last_at < OLD.last_at OR coalesce(NEW.records, 0) < coalesce(OLD.records, 0)
    OR NEW.entry_id <> OLD.entry_id OR NEW.happened_at <> OLD.happened_at OR NEW.kind <> OLD.kind
    OR NEW.outcome <> OLD.outcome OR NEW.reason <> OLD.reason OR NEW.actor <> OLD.actor
    OR NEW.actor_id <> OLD.actor_id OR NEW.actor_name <> OLD.actor_name OR NEW.address <> OLD.address
    OR NEW.object <> OLD.object OR NEW.object_name <> OLD.object_name
    OR NEW.fold_key IS DISTINCT FROM OLD.fold_key
) EXECUTE FUNCTION audit_refuse();

CREATE TRIGGER audit_horizon_forward BEFORE UPDATE ON audit_horizon
FOR EACH ROW WHEN (NEW.before < OLD.before) EXECUTE FUNCTION audit_refuse();


-- What the owner deleted -------------------------------------------------------------------------------------------

-- Each deletion with its receipt.
CREATE TABLE deletions (
    deletion_no    BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    deletion_id    TEXT COLLATE "C" NOT NULL UNIQUE,
    scope          TEXT COLLATE "C" NOT NULL, -- everything, connection, stream, range or record
    connection_id  TEXT COLLATE "C" NOT NULL, -- empty for everything
    stream         TEXT COLLATE "C" NOT NULL,
    since          TEXT COLLATE "C" NOT NULL, -- of a range; empty means no bound
    until          TEXT COLLATE "C" NOT NULL,
    state          TEXT COLLATE "C" NOT NULL, -- hiding, hidden, undoing, undone, purging, compacting or purged
    asked_at       TEXT COLLATE "C" NOT NULL,
    purge_after    TEXT COLLATE "C" NOT NULL, -- it can be undone until then
    ended_at       TEXT COLLATE "C", -- when it was undone or purged
    records        BIGINT           NOT NULL DEFAULT 0,
    tombstones     BIGINT           NOT NULL DEFAULT 0, -- records that the source had deleted before
    versions       BIGINT           NOT NULL DEFAULT 0, -- earlier ones
    bytes          BIGINT           NOT NULL DEFAULT 0, -- of the records' data
    files          BIGINT           NOT NULL DEFAULT 0, -- that no other record refers to
    file_bytes     BIGINT           NOT NULL DEFAULT 0,
    purged         BIGINT           NOT NULL DEFAULT 0, -- records and tombstones that are removed for good
    turned_away    BIGINT           NOT NULL DEFAULT 0, -- by rules that no longer exist
    reached_stream BIGINT           NOT NULL DEFAULT 0, -- how far hiding has come
    reached_seq    BIGINT           NOT NULL DEFAULT 0,
    trouble        TEXT COLLATE "C" NOT NULL DEFAULT '' -- of the newest step, if it failed
);
CREATE INDEX deletions_at_work ON deletions (state) WHERE state NOT IN ('undone', 'purged');

-- Records that a deletion hides. Until the purge, the last content of one is its newest version in record_history.
CREATE TABLE deleted_records (
    record_id   BIGINT PRIMARY KEY,
    deletion_no BIGINT NOT NULL,
    version     BIGINT NOT NULL, -- before it was hidden
    live        BIGINT NOT NULL  -- 0: the source had deleted it before
);
CREATE INDEX deleted_records_by_deletion ON deleted_records (deletion_no, record_id);

CREATE TABLE deleted_record_blobs (
    record_id BIGINT           NOT NULL,
    position  BIGINT           NOT NULL,
    field     TEXT COLLATE "C" NOT NULL,
    sha256    TEXT COLLATE "C" NOT NULL,
    mime      TEXT COLLATE "C" NOT NULL,
    name      TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (record_id, position)
);
CREATE INDEX deleted_record_blobs_by_content ON deleted_record_blobs (sha256);

-- Files to remove from file storage; no record refers to them.
CREATE TABLE deleted_files (
    sha256      TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    deletion_no BIGINT           NOT NULL
);

-- What runs and devices must not bring back. Of a record's key only the hash is kept.
CREATE TABLE deletion_rules (
    rule_no       BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    deletion_no   BIGINT           NOT NULL,
    connection_id TEXT COLLATE "C" NOT NULL,
    stream        TEXT COLLATE "C" NOT NULL, -- empty: every stream
    key_hash      TEXT COLLATE "C" NOT NULL, -- empty: every key
    since         TEXT COLLATE "C" NOT NULL,
    until         TEXT COLLATE "C" NOT NULL,
    turned_away   BIGINT           NOT NULL DEFAULT 0 -- records that arrived and were not stored
);
CREATE INDEX deletion_rules_by_connection ON deletion_rules (connection_id);
CREATE INDEX deletion_rules_by_deletion ON deletion_rules (deletion_no);


-- The row that the store writes to see whether the database is writable --------------------------------------------

CREATE TABLE store_check (
    writes BIGINT NOT NULL
);
INSERT INTO store_check (writes) VALUES (0);
