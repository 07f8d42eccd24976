-- What the owner deleted: the wish with its receipt, the records that it hides until they are removed for
-- good, and what runs may not bring back. SQLite has the same tables and columns.

-- +goose Up
CREATE TABLE deletions (
    deletion_no   BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    deletion_id   TEXT COLLATE "C" NOT NULL UNIQUE,
    scope         TEXT COLLATE "C" NOT NULL, -- everything, connection, stream, range or record
    connection_id TEXT COLLATE "C" NOT NULL, -- empty for everything
    stream        TEXT COLLATE "C" NOT NULL,
    since         TEXT COLLATE "C" NOT NULL, -- of a range; empty means no bound
    until         TEXT COLLATE "C" NOT NULL,
    state         TEXT COLLATE "C" NOT NULL, -- hiding, hidden, undoing, undone, purging, compacting or purged
    asked_at      TEXT COLLATE "C" NOT NULL,
    purge_after   TEXT COLLATE "C" NOT NULL, -- it can be undone until then
    ended_at      TEXT COLLATE "C", -- when it was undone or purged
    records       BIGINT NOT NULL DEFAULT 0,
    tombstones    BIGINT NOT NULL DEFAULT 0, -- records that the source had deleted before
    versions      BIGINT NOT NULL DEFAULT 0, -- earlier ones
    bytes         BIGINT NOT NULL DEFAULT 0, -- of the records' data
    files         BIGINT NOT NULL DEFAULT 0, -- that no other record refers to
    file_bytes    BIGINT NOT NULL DEFAULT 0,
    purged        BIGINT NOT NULL DEFAULT 0, -- records and tombstones that are removed for good
    turned_away   BIGINT NOT NULL DEFAULT 0, -- by rules that are gone
    reached_stream BIGINT NOT NULL DEFAULT 0, -- how far hiding is
    reached_seq   BIGINT NOT NULL DEFAULT 0,
    trouble       TEXT COLLATE "C" NOT NULL DEFAULT '' -- of the newest step, if it failed
);
CREATE INDEX deletions_at_work ON deletions (state) WHERE state NOT IN ('undone', 'purged');

-- Until it is purged, the last content of a hidden record is its newest version in record_history.
CREATE TABLE deleted_records (
    record_id   BIGINT NOT NULL PRIMARY KEY,
    deletion_no BIGINT NOT NULL,
    version     BIGINT NOT NULL, -- that it had
    live        BIGINT NOT NULL  -- 0: the source had deleted it before
);
CREATE INDEX deleted_records_by_deletion ON deleted_records (deletion_no, record_id);

CREATE TABLE deleted_record_blobs (
    record_id BIGINT NOT NULL,
    position  BIGINT NOT NULL,
    field     TEXT COLLATE "C" NOT NULL,
    sha256    TEXT COLLATE "C" NOT NULL,
    mime      TEXT COLLATE "C" NOT NULL,
    name      TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (record_id, position)
);
CREATE INDEX deleted_record_blobs_by_content ON deleted_record_blobs (sha256);

-- Files to be removed from where files are kept; no record refers to them.
CREATE TABLE deleted_files (
    sha256      TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    deletion_no BIGINT NOT NULL
);

-- What runs and devices may not bring back. A record's key is known by its hash alone.
CREATE TABLE deletion_rules (
    rule_no       BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    deletion_no   BIGINT NOT NULL,
    connection_id TEXT COLLATE "C" NOT NULL,
    stream        TEXT COLLATE "C" NOT NULL, -- empty: every stream
    key_hash      TEXT COLLATE "C" NOT NULL, -- empty: every key
    since         TEXT COLLATE "C" NOT NULL,
    until         TEXT COLLATE "C" NOT NULL,
    turned_away   BIGINT NOT NULL DEFAULT 0 -- records that came and were not stored
);
CREATE INDEX deletion_rules_by_connection ON deletion_rules (connection_id);
CREATE INDEX deletion_rules_by_deletion ON deletion_rules (deletion_no);

-- Changes up to here are not all told any more: tombstones among them were removed for good.
ALTER TABLE streams ADD COLUMN purged_seq BIGINT NOT NULL DEFAULT 0;
