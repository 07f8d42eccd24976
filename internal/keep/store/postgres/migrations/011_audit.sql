-- What was done, by whom. Entries are added; those that fold together only count
-- upwards; only what lies before the horizon can be taken away, and the horizon never
-- moves back. SQLite has the same tables and columns.

-- +goose Up
CREATE TABLE audit_entries (
    entry_id    BIGINT NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    happened_at TEXT COLLATE "C" NOT NULL,
    last_at     TEXT COLLATE "C" NOT NULL,
    kind        TEXT COLLATE "C" NOT NULL,
    outcome     TEXT   NOT NULL,
    reason      TEXT   NOT NULL,
    actor       TEXT   NOT NULL,
    actor_id    TEXT COLLATE "C" NOT NULL,
    actor_name  TEXT   NOT NULL,
    address     TEXT   NOT NULL,
    object      TEXT   NOT NULL,
    object_name TEXT   NOT NULL,
    times       BIGINT NOT NULL,
    records     BIGINT, -- NULL where records play no part
    fold_key    TEXT COLLATE "C" UNIQUE -- NULL unless entries that are alike fold into this one
);
CREATE INDEX audit_entries_last ON audit_entries (last_at);

CREATE TABLE audit_horizon (before TEXT COLLATE "C" NOT NULL);
INSERT INTO audit_horizon (before) VALUES ('');

-- +goose StatementBegin
CREATE FUNCTION audit_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'an audit entry cannot be changed, nor taken away before its time';
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION audit_stay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT coalesce(OLD.last_at < (SELECT min(before) FROM audit_horizon), false) THEN
        RAISE EXCEPTION 'an audit entry cannot be taken away before its time';
    END IF;
    RETURN OLD;
END $$;
-- +goose StatementEnd

CREATE TRIGGER audit_entries_stay BEFORE DELETE ON audit_entries
FOR EACH ROW EXECUTE FUNCTION audit_stay();

CREATE TRIGGER audit_entries_whole BEFORE TRUNCATE ON audit_entries
FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse();

CREATE TRIGGER audit_entries_hold BEFORE UPDATE ON audit_entries
FOR EACH ROW WHEN (
    OLD.fold_key IS NULL
    OR NEW.times <= OLD.times OR NEW.last_at < OLD.last_at OR coalesce(NEW.records, 0) < coalesce(OLD.records, 0)
    OR NEW.entry_id <> OLD.entry_id OR NEW.happened_at <> OLD.happened_at OR NEW.kind <> OLD.kind OR NEW.outcome <> OLD.outcome
    OR NEW.reason <> OLD.reason OR NEW.actor <> OLD.actor OR NEW.actor_id <> OLD.actor_id OR NEW.actor_name <> OLD.actor_name
    OR NEW.address <> OLD.address OR NEW.object <> OLD.object OR NEW.object_name <> OLD.object_name
    OR NEW.fold_key IS DISTINCT FROM OLD.fold_key
) EXECUTE FUNCTION audit_refuse();

CREATE TRIGGER audit_horizon_forward BEFORE UPDATE ON audit_horizon
FOR EACH ROW WHEN (NEW.before < OLD.before) EXECUTE FUNCTION audit_refuse();
