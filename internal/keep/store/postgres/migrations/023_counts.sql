-- Live records by the day, and by the month, of their time. Rows of a stream up to count_seq are
-- counted: those of a stream from before are counted step by step while others read and write.
-- SQLite has the same tables and columns.

-- +goose Up
ALTER TABLE streams ADD COLUMN count_seq BIGINT NOT NULL DEFAULT 0; -- rows up to here are counted

CREATE TABLE day_counts (
    stream_id BIGINT NOT NULL,
    day       TEXT COLLATE "C" NOT NULL, -- 2026-03-04 in UTC; empty: without a time
    records   BIGINT NOT NULL,
    bytes     BIGINT NOT NULL, -- of their data
    PRIMARY KEY (stream_id, day)
);

CREATE TABLE month_counts (
    stream_id BIGINT NOT NULL,
    month     TEXT COLLATE "C" NOT NULL, -- 2026-03
    records   BIGINT NOT NULL,
    bytes     BIGINT NOT NULL,
    PRIMARY KEY (stream_id, month)
);
