-- Vectors of the texts of records, for searches by meaning.

-- The endpoint that computes them; no row while the owner has chosen none.
CREATE TABLE embeddings (
    generation    TEXT    NOT NULL PRIMARY KEY, -- changes when the vectors of before are of no use
    kind          TEXT    NOT NULL, -- openai or ollama
    address       TEXT    NOT NULL,
    model         TEXT    NOT NULL,
    sealed_secret BLOB    NOT NULL,
    changed_at    TEXT    NOT NULL,
    failures      INTEGER NOT NULL, -- in a row
    last_failure  TEXT    NOT NULL,
    next_at       TEXT, -- of the next attempt
    claimed_by    TEXT    NOT NULL, -- the process that works
    claimed_until TEXT   
);

-- How far a stream has vectors.
CREATE TABLE vector_feeds (
    stream_id   INTEGER NOT NULL PRIMARY KEY REFERENCES streams (stream_id),
    fields_json TEXT    NOT NULL, -- JSON array
    seq         INTEGER NOT NULL
);

CREATE TABLE record_vectors (
    stream_id INTEGER NOT NULL,
    record_id INTEGER NOT NULL,
    field     TEXT    NOT NULL,
    seq       INTEGER NOT NULL, -- of the record; the vector is of no use for other versions
    digest    BLOB    NOT NULL, -- of the text
    vector    BLOB    NOT NULL, -- 1 / length as float32, then int8 components
    PRIMARY KEY (stream_id, record_id, field)
);
CREATE INDEX record_vectors_by_record ON record_vectors (record_id);
