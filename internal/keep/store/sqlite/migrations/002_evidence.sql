-- What the health of a connection is derived from, kept so that a page of
-- connections costs a fixed number of cheap reads. PostgreSQL has the same.

-- +goose Up
ALTER TABLE streams ADD COLUMN live_records INTEGER NOT NULL DEFAULT 0; -- records that are no tombstones
ALTER TABLE streams ADD COLUMN changed_at TEXT; -- of the newest change
ALTER TABLE streams ADD COLUMN facts_json TEXT; -- what the newest run that measured the stream found
ALTER TABLE streams ADD COLUMN facts_run_id TEXT;
ALTER TABLE streams ADD COLUMN facts_status TEXT;
ALTER TABLE streams ADD COLUMN facts_at TEXT;
UPDATE streams SET
    live_records = (SELECT count(*) FROM records r WHERE r.stream_id = streams.stream_id AND r.data IS NOT NULL),
    changed_at = (SELECT r.changed_at FROM records r WHERE r.stream_id = streams.stream_id ORDER BY r.seq DESC LIMIT 1);
CREATE INDEX streams_coverage_diagnostics ON streams (connection_id) WHERE name = 'coverage_diagnostics';

ALTER TABLE run_history ADD COLUMN collection_rate_json TEXT;
ALTER TABLE run_history ADD COLUMN records_committed INTEGER; -- NULL when the summary of checkpoints alone may tell
ALTER TABLE run_history ADD COLUMN gaps_recovered INTEGER; -- NULL when it was not counted
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
    connection_id        TEXT    NOT NULL PRIMARY KEY REFERENCES connections (connection_id),
    reason_class         TEXT    NOT NULL,
    consecutive_failures INTEGER NOT NULL,
    observed_at          TEXT    NOT NULL,
    next_attempt_at      TEXT
);

CREATE TABLE readiness_probes (
    connection_id TEXT NOT NULL REFERENCES connections (connection_id),
    dimension     TEXT NOT NULL,
    name          TEXT NOT NULL, -- which binding, which tool; empty when there is only one
    status        TEXT NOT NULL,
    reason        TEXT NOT NULL,
    observed_at   TEXT NOT NULL,
    expires_at    TEXT,
    PRIMARY KEY (connection_id, dimension, name)
);

-- The parts that serve every connection, each with its newest report.
CREATE TABLE runtime_components (
    name          TEXT NOT NULL PRIMARY KEY,
    status        TEXT NOT NULL,
    reason        TEXT NOT NULL,
    observed_at   TEXT NOT NULL,
    every_seconds INTEGER -- NULL for a part that reports changes only
);
