-- Fields of records are compared by functions that SQLite has from the program, and
-- PostgreSQL from its own migration of this number.

-- +goose Up
SELECT 1;
