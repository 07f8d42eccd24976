-- What the health of a connection is derived from, kept so that a page of
-- connections costs a fixed number of cheap reads. SQLite has the same.

-- +goose Up
ALTER TABLE streams ADD COLUMN live_records BIGINT NOT NULL DEFAULT 0; -- records that are no tombstones
ALTER TABLE streams ADD COLUMN changed_at TEXT COLLATE "C"; -- of the newest change
ALTER TABLE streams ADD COLUMN facts_json TEXT; -- what the newest run that measured the stream found
ALTER TABLE streams ADD COLUMN facts_run_id TEXT COLLATE "C";
ALTER TABLE streams ADD COLUMN facts_status TEXT;
ALTER TABLE streams ADD COLUMN facts_at TEXT COLLATE "C";
UPDATE streams SET
    live_records = (SELECT count(*) FROM records r WHERE r.stream_id = streams.stream_id AND r.data IS NOT NULL),
    changed_at = (SELECT r.changed_at FROM records r WHERE r.stream_id = streams.stream_id ORDER BY r.seq DESC LIMIT 1);
CREATE INDEX streams_coverage_diagnostics ON streams (connection_id) WHERE name = 'coverage_diagnostics';

ALTER TABLE run_history ADD COLUMN collection_rate_json TEXT;
ALTER TABLE run_history ADD COLUMN records_committed BIGINT; -- NULL when the summary of checkpoints alone may tell
ALTER TABLE run_history ADD COLUMN gaps_recovered BIGINT; -- NULL when it was not counted
CREATE INDEX run_history_ended ON run_history (connection_id, run_no) WHERE status NOT IN ('running', 'skipped');
CREATE INDEX run_history_succeeded ON run_history (connection_id, run_no) WHERE status = 'succeeded';
CREATE INDEX run_leases_active ON run_leases (connection_id) WHERE run_id IS NOT NULL;

CREATE INDEX connector_detail_gaps_outstanding
    ON connector_detail_gaps (connection_id, stream, reason, attempt_count, next_attempt_after, status)
    WHERE status IN ('pending', 'in_progress');
CREATE INDEX connector_detail_gaps_recovered ON connector_detail_gaps (connection_id, reason) WHERE status = 'recovered';
CREATE INDEX connector_detail_gaps_terminal ON connector_detail_gaps (connection_id) WHERE status = 'terminal' AND ignored_why = '';
CREATE INDEX connector_detail_gaps_by_recovery ON connector_detail_gaps (recovered_run_id) WHERE recovered_run_id IS NOT NULL;

CREATE INDEX device_source_instances_by_connection ON device_source_instances (connection_id);

CREATE TABLE scheduler_backoffs (
    connection_id        TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES connections (connection_id),
    reason_class         TEXT    NOT NULL,
    consecutive_failures BIGINT  NOT NULL,
    observed_at          TEXT COLLATE "C" NOT NULL,
    next_attempt_at      TEXT COLLATE "C"
);

CREATE TABLE readiness_probes (
    connection_id TEXT COLLATE "C" NOT NULL REFERENCES connections (connection_id),
    dimension     TEXT COLLATE "C" NOT NULL,
    name          TEXT COLLATE "C" NOT NULL, -- which binding, which tool; empty when there is only one
    status        TEXT NOT NULL,
    reason        TEXT NOT NULL,
    observed_at   TEXT COLLATE "C" NOT NULL,
    expires_at    TEXT COLLATE "C",
    PRIMARY KEY (connection_id, dimension, name)
);

-- The parts that serve every connection, each with its newest report.
CREATE TABLE runtime_components (
    name          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    status        TEXT NOT NULL,
    reason        TEXT NOT NULL,
    observed_at   TEXT COLLATE "C" NOT NULL,
    every_seconds BIGINT -- NULL for a part that reports changes only
);
