-- A statement that names a stream by a parameter asks SQLite whether this index serves its name, and
-- is planned anew for every name. The streams of a connection are found by its key.

-- +goose Up
DROP INDEX streams_coverage_diagnostics;
