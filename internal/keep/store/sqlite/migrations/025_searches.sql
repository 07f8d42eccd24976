-- Lists of records that the owner opens again, by name. The other database has the same columns.

-- +goose Up
CREATE TABLE saved_searches (
    search_id  TEXT NOT NULL PRIMARY KEY,
    name       TEXT NOT NULL UNIQUE,
    address    TEXT NOT NULL, -- below the server
    created_at TEXT NOT NULL
);
