package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

func (db *DB) PutDevice(ctx context.Context, d store.Device) error {
	return db.write(ctx, func(tx *tx) error {
		affected, err := tx.affectedConnections(d)
		if err != nil {
			return err
		}
		_, err = tx.exec(`INSERT INTO device_exporters (`+deviceColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (device_id) DO UPDATE SET display_name = excluded.display_name, status = excluded.status,
				agent_version = excluded.agent_version, collector_protocol_version = excluded.collector_protocol_version,
				last_heartbeat_at = excluded.last_heartbeat_at, last_error_json = excluded.last_error_json,
				last_used_at = excluded.last_used_at, last_address = excluded.last_address,
				updated_at = excluded.updated_at, revoked_at = excluded.revoked_at`,
			d.ID, d.DisplayName, d.Status, d.AgentVersion, d.ProtocolVersion, timeOrNull(d.LastHeartbeatAt),
			jsonOrNull(d.LastError),
			timeOrNull(d.LastUsedAt), d.LastAddress, d.Installation, timeOrNull(d.DoubledAt), formatTime(d.CreatedAt),
			formatTime(d.UpdatedAt), timeOrNull(d.RevokedAt))
		if err != nil {
			return err
		}
		return tx.markAllChanged(affected)
	})
}

// affectedConnections lists the connections of a device if its status is about to change. A heartbeat does not affect
// them.
func (t *tx) affectedConnections(d store.Device) ([]string, error) {
	return listRows(t.ctx, t.db, t, func(s scanner) (id string, err error) { return id, s.Scan(&id) },
		`SELECT DISTINCT s.connection_id FROM device_source_instances s JOIN device_exporters d ON d.device_id = s.device_id
			WHERE d.device_id = ? AND (d.status <> ? OR coalesce(d.revoked_at, '') <> coalesce(?, ''))`,
		d.ID, d.Status, timeOrNull(d.RevokedAt))
}

func (db *DB) Device(ctx context.Context, id string) (store.Device, error) {
	return getRow(db, db.row(ctx, `SELECT `+deviceColumns+` FROM device_exporters WHERE device_id = ?`, id), scanDevice)
}

func (db *DB) ListDevices(ctx context.Context) ([]store.Device, error) {
	return listRows(ctx, db, db.reader, scanDevice,
		`SELECT `+deviceColumns+` FROM device_exporters ORDER BY created_at, device_id`)
}

const deviceColumns = `device_id, display_name, status, agent_version, collector_protocol_version, last_heartbeat_at,
	last_error_json, last_used_at, last_address, installation, doubled_at, created_at, updated_at, revoked_at`

func scanDevice(s scanner) (d store.Device, err error) {
	err = s.Scan(&d.ID, &d.DisplayName, &d.Status, &d.AgentVersion, &d.ProtocolVersion, intoTimePtr(&d.LastHeartbeatAt),
		intoJSON(&d.LastError), intoTimePtr(&d.LastUsedAt), &d.LastAddress, &d.Installation, intoTimePtr(&d.DoubledAt),
		intoTime(&d.CreatedAt), intoTime(&d.UpdatedAt), intoTimePtr(&d.RevokedAt))
	return d, err
}

func (db *DB) PutDeviceSource(ctx context.Context, s store.DeviceSource) error {
	return db.write(ctx, func(tx *tx) error {
		affected := []string{s.ConnectionID}
		var before string
		err := tx.row(`SELECT connection_id FROM device_source_instances WHERE source_instance_id = ?`, s.ID).Scan(&before)
		if err == nil && before != s.ConnectionID {
			affected = append(affected, before) // it loses the source
		} else if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if err := tx.insertSource(s); err != nil {
			return err
		}
		return tx.markAllChanged(affected)
	})
}

// insertSource inserts a source, or updates everything but its generation.
func (t *tx) insertSource(s store.DeviceSource) error {
	_, err := t.exec(`INSERT INTO device_source_instances (`+sourceColumns+`)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (source_instance_id) DO UPDATE SET device_id = excluded.device_id, connector_id = excluded.connector_id,
			connection_id = excluded.connection_id, local_binding_id = excluded.local_binding_id,
			source_kind = excluded.source_kind, display_name = excluded.display_name, status = excluded.status,
			last_error_json = excluded.last_error_json, last_heartbeat_at = excluded.last_heartbeat_at,
			last_heartbeat_status = excluded.last_heartbeat_status, records_pending = excluded.records_pending,
			outbox_diagnostics_json = excluded.outbox_diagnostics_json,
			manifest_generation = excluded.manifest_generation, clock_skew_s = excluded.clock_skew_s,
			collection_scope_json = excluded.collection_scope_json, updated_at = excluded.updated_at,
			revoked_at = excluded.revoked_at`,
		s.ID, s.DeviceID, s.ConnectorID, s.ConnectionID, s.LocalBinding, s.SourceKind, s.DisplayName, s.Status,
		jsonOrNull(s.LastError), timeOrNull(s.LastHeartbeatAt), s.LastHeartbeatStatus, s.RecordsPending,
		jsonOrNull(s.OutboxDiagnostics), s.ManifestGeneration, s.Generation, s.MaxBatchSeq, s.ClockSkew, jsonOrNull(s.Scope),
		formatTime(s.CreatedAt), formatTime(s.UpdatedAt), timeOrNull(s.RevokedAt))
	return err
}

func (db *DB) DeviceSource(ctx context.Context, id string) (store.DeviceSource, error) {
	return getRow(db, db.row(ctx, `SELECT `+sourceColumns+` FROM device_source_instances WHERE source_instance_id = ?`,
		id), scanSource)
}

func (db *DB) DeviceSources(ctx context.Context, deviceID string) ([]store.DeviceSource, error) {
	var f sqlFilter
	f.addEqual("device_id", deviceID)
	return listRows(ctx, db, db.reader, scanSource,
		`SELECT `+sourceColumns+` FROM device_source_instances`+f.whereClause()+` ORDER BY created_at, source_instance_id`,
		f.args...)
}

const sourceColumns = `source_instance_id, device_id, connector_id, connection_id, local_binding_id, source_kind,
	display_name,
	status, last_error_json, last_heartbeat_at, last_heartbeat_status, records_pending, outbox_diagnostics_json,
	manifest_generation, generation, max_batch_seq, clock_skew_s, collection_scope_json, created_at, updated_at,
	revoked_at`

func scanSource(sc scanner) (s store.DeviceSource, err error) {
	err = sc.Scan(&s.ID, &s.DeviceID, &s.ConnectorID, &s.ConnectionID, &s.LocalBinding, &s.SourceKind, &s.DisplayName,
		&s.Status, intoJSON(&s.LastError), intoTimePtr(&s.LastHeartbeatAt), &s.LastHeartbeatStatus, &s.RecordsPending,
		intoJSON(&s.OutboxDiagnostics), &s.ManifestGeneration, &s.Generation, &s.MaxBatchSeq, &s.ClockSkew,
		intoJSON(&s.Scope),
		intoTime(&s.CreatedAt), intoTime(&s.UpdatedAt), intoTimePtr(&s.RevokedAt))
	return s, err
}

func (db *DB) RenameDevice(ctx context.Context, id, name string, now time.Time) error {
	return db.write(ctx, func(tx *tx) error {
		return requireChange(tx.exec(`UPDATE device_exporters SET display_name = ?, updated_at = ? WHERE device_id = ?`, name,
			formatTime(now), id))
	})
}
