-- What was done, by whom. Entries are added; those that fold together only count
-- upwards; only what lies before the horizon can be taken away, and the horizon never
-- moves back. PostgreSQL has the same tables and columns.

-- +goose Up
CREATE TABLE audit_entries (
    entry_id    INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    happened_at TEXT    NOT NULL,
    last_at     TEXT    NOT NULL,
    kind        TEXT    NOT NULL,
    outcome     TEXT    NOT NULL,
    reason      TEXT    NOT NULL,
    actor       TEXT    NOT NULL,
    actor_id    TEXT    NOT NULL,
    actor_name  TEXT    NOT NULL,
    address     TEXT    NOT NULL,
    object      TEXT    NOT NULL,
    object_name TEXT    NOT NULL,
    times       INTEGER NOT NULL,
    records     INTEGER, -- NULL where records play no part
    fold_key    TEXT UNIQUE -- NULL unless entries that are alike fold into this one
);
CREATE INDEX audit_entries_last ON audit_entries (last_at);

CREATE TABLE audit_horizon (before TEXT NOT NULL);
INSERT INTO audit_horizon (before) VALUES ('');

-- +goose StatementBegin
CREATE TRIGGER audit_entries_stay BEFORE DELETE ON audit_entries
WHEN NOT coalesce(OLD.last_at < (SELECT min(before) FROM audit_horizon), 0)
BEGIN
    SELECT RAISE(ABORT, 'an audit entry cannot be taken away before its time');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER audit_entries_hold BEFORE UPDATE ON audit_entries
WHEN OLD.fold_key IS NULL
    OR NEW.times <= OLD.times OR NEW.last_at < OLD.last_at OR coalesce(NEW.records, 0) < coalesce(OLD.records, 0)
    OR NEW.entry_id <> OLD.entry_id OR NEW.happened_at <> OLD.happened_at OR NEW.kind <> OLD.kind OR NEW.outcome <> OLD.outcome
    OR NEW.reason <> OLD.reason OR NEW.actor <> OLD.actor OR NEW.actor_id <> OLD.actor_id OR NEW.actor_name <> OLD.actor_name
    OR NEW.address <> OLD.address OR NEW.object <> OLD.object OR NEW.object_name <> OLD.object_name
    OR NEW.fold_key IS NOT OLD.fold_key
BEGIN
    SELECT RAISE(ABORT, 'an audit entry cannot be changed');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER audit_horizon_forward BEFORE UPDATE ON audit_horizon
WHEN NEW.before < OLD.before
BEGIN
    SELECT RAISE(ABORT, 'the horizon of the audit trail does not move back');
END;
-- +goose StatementEnd
