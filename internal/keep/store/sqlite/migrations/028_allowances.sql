-- What a provider allows several runs together, by a keyed hash of what it is: what was learned of it, and
-- which runs draw on it. A run draws on it while it holds its lease. The other database has the same columns.

-- +goose Up
CREATE TABLE allowances (
    allowance_key TEXT    NOT NULL PRIMARY KEY,
    joinings      INTEGER NOT NULL,
    learned_json  TEXT, -- numbers, as a run told them last
    used_at       TEXT    NOT NULL
);
CREATE INDEX allowances_by_use ON allowances (used_at);

CREATE TABLE allowance_members (
    allowance_key TEXT    NOT NULL,
    run_id        TEXT    NOT NULL,
    holder        TEXT    NOT NULL,
    joined        INTEGER NOT NULL, -- the number of its joining, which no other run has
    news_json     TEXT, -- numbers, as the run told them last
    PRIMARY KEY (allowance_key, run_id)
);
CREATE INDEX allowance_members_by_run ON allowance_members (run_id);

-- Which allowance a connection's sender drew on last: the waits of one are those of all.
CREATE TABLE allowance_connections (
    connection_id TEXT NOT NULL,
    sender        TEXT NOT NULL,
    allowance_key TEXT NOT NULL,
    PRIMARY KEY (connection_id, sender)
);
CREATE INDEX allowance_connections_by_key ON allowance_connections (allowance_key);
