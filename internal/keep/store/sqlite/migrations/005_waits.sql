-- Moments before which a provider is not to be asked. PostgreSQL has the same.

-- +goose Up
CREATE TABLE provider_waits (
    connection_id TEXT NOT NULL REFERENCES connections (connection_id),
    sender        TEXT NOT NULL, -- which of the connector's senders
    until         TEXT NOT NULL,
    reason        TEXT NOT NULL, -- retry_after: the provider said so; searched: the governor found it
    noted_at      TEXT NOT NULL,
    PRIMARY KEY (connection_id, sender)
);
