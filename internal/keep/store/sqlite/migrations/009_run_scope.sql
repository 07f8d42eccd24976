-- What a requested run is limited to. PostgreSQL has the same.

-- +goose Up
ALTER TABLE run_requests ADD COLUMN scope_json TEXT NOT NULL DEFAULT ''; -- JSON array of stream scopes; empty: none
ALTER TABLE run_requests ADD COLUMN whole INTEGER NOT NULL DEFAULT 1; -- 1: a run without such limits is asked for, too
