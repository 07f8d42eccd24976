-- The grant that a run was asked for by, empty for one that the owner or a schedule
-- wants. SQLite has the same.

-- +goose Up
ALTER TABLE run_history ADD COLUMN grant_id TEXT COLLATE "C" NOT NULL DEFAULT '';
CREATE INDEX run_history_of_grants ON run_history (grant_id) WHERE grant_id <> '' AND status = 'running';

ALTER TABLE run_requests ADD COLUMN grant_id TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE run_requests DROP CONSTRAINT run_requests_pkey;
ALTER TABLE run_requests ADD PRIMARY KEY (connection_id, grant_id);
