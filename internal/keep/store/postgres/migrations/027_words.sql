-- How the full-text index of SQLite is kept: see its migration of this number.

-- +goose Up
SELECT 1;
