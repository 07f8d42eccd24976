-- A device's token may be used by one installation at a time, and what a device sent can be
-- taken back. The other database has the same columns.

-- +goose Up
ALTER TABLE device_exporters ADD COLUMN installation TEXT; -- that showed the token last; NULL before the first
ALTER TABLE device_exporters ADD COLUMN installation_before TEXT; -- that showed it until then
ALTER TABLE device_exporters ADD COLUMN installation_at TEXT; -- when the one changed into the other
ALTER TABLE device_exporters ADD COLUMN doubled_at TEXT; -- when two were last seen to take turns

ALTER TABLE run_history ADD COLUMN source_instance_id TEXT NOT NULL DEFAULT ''; -- on a device, that made the run
UPDATE run_history SET source_instance_id = coalesce((SELECT s.source_instance_id FROM device_source_instances s
    WHERE s.connection_id = run_history.connection_id AND s.created_at <= run_history.started_at
        AND (s.revoked_at IS NULL OR s.revoked_at >= run_history.started_at)
    ORDER BY s.generation DESC LIMIT 1), '') WHERE trigger_kind = 'device';
