-- The files that an owner gave, each with a receipt, and which records came from which of them.
-- The other database has the same columns.

-- +goose Up
CREATE TABLE imports (
    import_no       INTEGER PRIMARY KEY AUTOINCREMENT,
    import_id       TEXT NOT NULL UNIQUE,
    connection_id   TEXT NOT NULL REFERENCES connections (connection_id),
    path            TEXT NOT NULL, -- below the import folder of the connection
    name            TEXT NOT NULL, -- as the owner called it
    sha256          TEXT NOT NULL, -- empty: it was put into the folder, and nobody has measured it
    bytes           INTEGER, -- NULL: not measured
    received_at     TEXT NOT NULL,
    run_no          INTEGER, -- the newest run that took records from it; NULL before the first
    records_new     INTEGER NOT NULL DEFAULT 0,
    records_changed INTEGER NOT NULL DEFAULT 0,
    records_same    INTEGER NOT NULL DEFAULT 0,
    undo_begun_at   TEXT,
    undone_at       TEXT,
    records_deleted INTEGER NOT NULL DEFAULT 0 -- by undoing it
);
CREATE UNIQUE INDEX imports_by_path ON imports (connection_id, path) WHERE undone_at IS NULL;
CREATE UNIQUE INDEX imports_by_content ON imports (connection_id, sha256) WHERE undone_at IS NULL AND sha256 <> '';

-- Import 0 stands for everything that is no file: the source itself brought the record too.
CREATE TABLE record_imports (
    record_id INTEGER NOT NULL,
    import_no INTEGER NOT NULL,
    PRIMARY KEY (record_id, import_no)
) WITHOUT ROWID;
CREATE INDEX record_imports_by_import ON record_imports (import_no, record_id);

ALTER TABLE streams ADD COLUMN imported INTEGER NOT NULL DEFAULT 0; -- records of it came from files
