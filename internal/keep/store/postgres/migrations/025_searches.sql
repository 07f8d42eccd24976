-- Lists of records that the owner opens again, by name. The other database has the same columns.

-- +goose Up
CREATE TABLE saved_searches (
    search_id  TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name       TEXT COLLATE "C" NOT NULL UNIQUE,
    address    TEXT NOT NULL, -- below the server
    created_at TEXT COLLATE "C" NOT NULL
);
