-- What the browsers of connections keep from run to run, sealed.

-- +goose Up
CREATE TABLE browser_profiles (
    connection_id TEXT COLLATE "C" NOT NULL REFERENCES connections (connection_id),
    name          TEXT COLLATE "C" NOT NULL,
    generation    BIGINT NOT NULL,
    account_mac   TEXT NOT NULL,
    sealed        BYTEA NOT NULL,
    sealed_at     TEXT COLLATE "C" NOT NULL,
    bytes         BIGINT NOT NULL,
    PRIMARY KEY (connection_id, name)
);
-- What is sealed does not become smaller by compression.
ALTER TABLE browser_profiles ALTER COLUMN sealed SET STORAGE EXTERNAL;
