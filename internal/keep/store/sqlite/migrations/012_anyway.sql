-- A run that the owner asks for although the provider is to be left alone. PostgreSQL
-- has the same.

-- +goose Up
ALTER TABLE run_requests ADD COLUMN ask_anyway INTEGER NOT NULL DEFAULT 0;
