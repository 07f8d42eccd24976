-- Live records by the day, and by the month, of their time. Rows of a stream up to count_seq are
-- counted: those of a stream from before are counted step by step while others read and write.
-- PostgreSQL has the same tables and columns.

-- +goose Up
ALTER TABLE streams ADD COLUMN count_seq INTEGER NOT NULL DEFAULT 0; -- rows up to here are counted

CREATE TABLE day_counts (
    stream_id INTEGER NOT NULL,
    day       TEXT    NOT NULL, -- 2026-03-04 in UTC; empty: without a time
    records   INTEGER NOT NULL,
    bytes     INTEGER NOT NULL, -- of their data
    PRIMARY KEY (stream_id, day)
) WITHOUT ROWID;

CREATE TABLE month_counts (
    stream_id INTEGER NOT NULL,
    month     TEXT    NOT NULL, -- 2026-03
    records   INTEGER NOT NULL,
    bytes     INTEGER NOT NULL,
    PRIMARY KEY (stream_id, month)
) WITHOUT ROWID;
