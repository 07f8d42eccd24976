-- The files of records, by their content. The files themselves are elsewhere, and there before
-- a row names them. The other database has the same columns.

-- +goose Up
CREATE TABLE blobs (
    sha256          TEXT   NOT NULL PRIMARY KEY,
    bytes           INTEGER NOT NULL,
    stored_at       TEXT   NOT NULL,
    unreferenced_at TEXT -- since when no record refers to it; NULL while one does
);
CREATE INDEX blobs_unreferenced ON blobs (unreferenced_at) WHERE unreferenced_at IS NOT NULL;

CREATE TABLE record_blobs (
    record_id INTEGER NOT NULL,
    position  INTEGER NOT NULL,
    field     TEXT   NOT NULL, -- of the record's data, that the file belongs to
    sha256    TEXT   NOT NULL,
    mime      TEXT   NOT NULL,
    name      TEXT   NOT NULL,
    PRIMARY KEY (record_id, position)
);
CREATE INDEX record_blobs_by_content ON record_blobs (sha256);
