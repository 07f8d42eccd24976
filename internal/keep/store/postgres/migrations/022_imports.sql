-- The files that an owner gave, each with a receipt, and which records came from which of them.
-- The other database has the same columns.

-- +goose Up
CREATE TABLE imports (
    import_no       BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    import_id       TEXT COLLATE "C" NOT NULL UNIQUE,
    connection_id   TEXT COLLATE "C" NOT NULL REFERENCES connections (connection_id),
    path            TEXT COLLATE "C" NOT NULL, -- below the import folder of the connection
    name            TEXT COLLATE "C" NOT NULL, -- as the owner called it
    sha256          TEXT COLLATE "C" NOT NULL, -- empty: it was put into the folder, and nobody has measured it
    bytes           BIGINT, -- NULL: not measured
    received_at     TEXT COLLATE "C" NOT NULL,
    run_no          BIGINT, -- the newest run that took records from it; NULL before the first
    records_new     BIGINT NOT NULL DEFAULT 0,
    records_changed BIGINT NOT NULL DEFAULT 0,
    records_same    BIGINT NOT NULL DEFAULT 0,
    undo_begun_at   TEXT COLLATE "C",
    undone_at       TEXT COLLATE "C",
    records_deleted BIGINT NOT NULL DEFAULT 0 -- by undoing it
);
CREATE UNIQUE INDEX imports_by_path ON imports (connection_id, path) WHERE undone_at IS NULL;
CREATE UNIQUE INDEX imports_by_content ON imports (connection_id, sha256) WHERE undone_at IS NULL AND sha256 <> '';

-- Import 0 stands for everything that is no file: the source itself brought the record too.
CREATE TABLE record_imports (
    record_id BIGINT NOT NULL,
    import_no BIGINT NOT NULL,
    PRIMARY KEY (record_id, import_no)
);
CREATE INDEX record_imports_by_import ON record_imports (import_no, record_id);

ALTER TABLE streams ADD COLUMN imported BIGINT NOT NULL DEFAULT 0; -- records of it came from files
