-- What the owner deleted: the wish with its receipt, the records that it hides until they are removed for
-- good, and what runs may not bring back. The other database has the same columns.

-- +goose Up
CREATE TABLE deletions (
    deletion_no   INTEGER PRIMARY KEY AUTOINCREMENT,
    deletion_id   TEXT    NOT NULL UNIQUE,
    scope         TEXT    NOT NULL, -- everything, connection, stream, range or record
    connection_id TEXT    NOT NULL, -- empty for everything
    stream        TEXT    NOT NULL,
    since         TEXT    NOT NULL, -- of a range; empty means no bound
    until         TEXT    NOT NULL,
    state         TEXT    NOT NULL, -- hiding, hidden, undoing, undone, purging, compacting or purged
    asked_at      TEXT    NOT NULL,
    purge_after   TEXT    NOT NULL, -- it can be undone until then
    ended_at      TEXT, -- when it was undone or purged
    records       INTEGER NOT NULL DEFAULT 0,
    tombstones    INTEGER NOT NULL DEFAULT 0, -- records that the source had deleted before
    versions      INTEGER NOT NULL DEFAULT 0, -- earlier ones
    bytes         INTEGER NOT NULL DEFAULT 0, -- of the records' data
    files         INTEGER NOT NULL DEFAULT 0, -- that no other record refers to
    file_bytes    INTEGER NOT NULL DEFAULT 0,
    purged        INTEGER NOT NULL DEFAULT 0, -- records and tombstones that are removed for good
    turned_away   INTEGER NOT NULL DEFAULT 0, -- by rules that are gone
    reached_stream INTEGER NOT NULL DEFAULT 0, -- how far hiding is
    reached_seq   INTEGER NOT NULL DEFAULT 0,
    trouble       TEXT    NOT NULL DEFAULT '' -- of the newest step, if it failed
);
CREATE INDEX deletions_at_work ON deletions (state) WHERE state NOT IN ('undone', 'purged');

-- Until it is purged, the last content of a hidden record is its newest version in record_history.
CREATE TABLE deleted_records (
    record_id   INTEGER PRIMARY KEY,
    deletion_no INTEGER NOT NULL,
    version     INTEGER NOT NULL, -- that it had
    live        INTEGER NOT NULL  -- 0: the source had deleted it before
);
CREATE INDEX deleted_records_by_deletion ON deleted_records (deletion_no, record_id);

CREATE TABLE deleted_record_blobs (
    record_id INTEGER NOT NULL,
    position  INTEGER NOT NULL,
    field     TEXT    NOT NULL,
    sha256    TEXT    NOT NULL,
    mime      TEXT    NOT NULL,
    name      TEXT    NOT NULL,
    PRIMARY KEY (record_id, position)
);
CREATE INDEX deleted_record_blobs_by_content ON deleted_record_blobs (sha256);

-- Files to be removed from where files are kept; no record refers to them.
CREATE TABLE deleted_files (
    sha256      TEXT    NOT NULL PRIMARY KEY,
    deletion_no INTEGER NOT NULL
);

-- What runs and devices may not bring back. A record's key is known by its hash alone.
CREATE TABLE deletion_rules (
    rule_no       INTEGER PRIMARY KEY AUTOINCREMENT,
    deletion_no   INTEGER NOT NULL,
    connection_id TEXT    NOT NULL,
    stream        TEXT    NOT NULL, -- empty: every stream
    key_hash      TEXT    NOT NULL, -- empty: every key
    since         TEXT    NOT NULL,
    until         TEXT    NOT NULL,
    turned_away   INTEGER NOT NULL DEFAULT 0 -- records that came and were not stored
);
CREATE INDEX deletion_rules_by_connection ON deletion_rules (connection_id);
CREATE INDEX deletion_rules_by_deletion ON deletion_rules (deletion_no);

-- Changes up to here are not all told any more: tombstones among them were removed for good.
ALTER TABLE streams ADD COLUMN purged_seq INTEGER NOT NULL DEFAULT 0;
