-- A grant may be bound to values of a field. PostgreSQL gets the function for it here, which
-- is one of the program with SQLite.

-- +goose Up
SELECT 1;
