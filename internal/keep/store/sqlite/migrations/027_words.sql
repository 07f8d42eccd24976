-- What one commit brings of the full-text index is written at once, and parts of it are merged by the
-- dozen. A store without records gets another index than this one afterwards (search.go). PostgreSQL has
-- nothing to change.

-- +goose Up
INSERT INTO record_search (record_search, rank) VALUES ('hashsize', 8388608), ('automerge', 32), ('crisismerge', 64);
