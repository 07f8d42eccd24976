-- Moments before which a provider is not to be asked. SQLite has the same.

-- +goose Up
CREATE TABLE provider_waits (
    connection_id TEXT COLLATE "C" NOT NULL REFERENCES connections (connection_id),
    sender        TEXT COLLATE "C" NOT NULL, -- which of the connector's senders
    until         TEXT COLLATE "C" NOT NULL,
    reason        TEXT NOT NULL, -- retry_after: the provider said so; searched: the governor found it
    noted_at      TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (connection_id, sender)
);
