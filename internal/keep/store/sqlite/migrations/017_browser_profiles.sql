-- What the browsers of connections keep from run to run, sealed.

-- +goose Up
CREATE TABLE browser_profiles (
    connection_id TEXT    NOT NULL REFERENCES connections (connection_id),
    name          TEXT    NOT NULL,
    generation    INTEGER NOT NULL,
    account_mac   TEXT    NOT NULL,
    sealed        BLOB    NOT NULL,
    sealed_at     TEXT    NOT NULL,
    bytes         INTEGER NOT NULL,
    PRIMARY KEY (connection_id, name)
);
