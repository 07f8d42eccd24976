-- Foreign connectors that the owner has confirmed, as they then were. PostgreSQL has the same.

-- +goose Up
CREATE TABLE connector_confirmations (
    connector_id   TEXT NOT NULL PRIMARY KEY,
    executable     TEXT NOT NULL, -- SHA-256 of the program
    variables_json TEXT NOT NULL, -- the variables that it is given
    paths_json     TEXT NOT NULL, -- the variables whose paths it reads
    confirmed_at   TEXT NOT NULL
);
