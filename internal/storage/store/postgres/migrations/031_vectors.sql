-- Vectors of the texts of records, for searches by meaning.

-- The endpoint that computes them; no row while the owner has chosen none.
CREATE TABLE embeddings (
    generation    TEXT COLLATE "C" NOT NULL PRIMARY KEY, -- changes when the vectors of before are of no use
    kind          TEXT             NOT NULL, -- openai or ollama
    address       TEXT             NOT NULL,
    model         TEXT             NOT NULL,
    sealed_secret BYTEA            NOT NULL,
    changed_at    TEXT COLLATE "C" NOT NULL,
    failures      BIGINT           NOT NULL, -- in a row
    last_failure  TEXT             NOT NULL,
    next_at       TEXT COLLATE "C", -- of the next attempt
    claimed_by    TEXT             NOT NULL, -- the process that works
    claimed_until TEXT COLLATE "C"
);

-- How far a stream has vectors.
CREATE TABLE vector_feeds (
    stream_id   BIGINT NOT NULL PRIMARY KEY REFERENCES streams (stream_id),
    fields_json TEXT   NOT NULL, -- JSON array
    seq         BIGINT NOT NULL
);

CREATE TABLE record_vectors (
    stream_id BIGINT           NOT NULL,
    record_id BIGINT           NOT NULL,
    field     TEXT COLLATE "C" NOT NULL,
    seq       BIGINT           NOT NULL, -- of the record; the vector is of no use for other versions
    digest    BYTEA            NOT NULL, -- of the text
    vector    BYTEA            NOT NULL, -- 1 / length as float32, then int8 components
    PRIMARY KEY (stream_id, record_id, field)
);
CREATE INDEX record_vectors_by_record ON record_vectors (record_id);
