package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/internal/keep/store"
)

func (db *DB) EnrolDevice(ctx context.Context, e store.Enrolment, now time.Time) (done store.Enrolled, err error) {
	for {
		err = db.write(ctx, func(tx *tx) error {
			done, err = tx.enrol(e, now)
			return err
		})
		// Another code has just made the connection of this binding: take that one over.
		if !errors.Is(err, store.ErrExists) {
			return done, err
		}
	}
}

func (t *tx) enrol(e store.Enrolment, now time.Time) (store.Enrolled, error) {
	// Whoever else uses the code waits here.
	code, err := get(t.db, t.row(`UPDATE device_enrollment_codes SET status = status WHERE code_hash = ? RETURNING `+codeColumns, blob(e.CodeHash)), scanCode)
	if err != nil {
		return store.Enrolled{}, err
	}
	again := code.Status == store.CodeConsumed && (code.SpentAt == nil || e.Joins == code.DeviceID)
	switch {
	case code.Status != store.CodePending && !again:
		return store.Enrolled{}, store.ErrCodeUsed
	case !now.Before(code.ExpiresAt):
		return store.Enrolled{}, store.ErrCodeExpired
	case again:
		return t.enrolAgain(e, code, now)
	}
	done := store.Enrolled{Joined: e.Joins != ""}
	device := e.Joins
	if device == "" {
		device, err = e.DeviceID, t.newDevice(e, code.ID, now)
	} else {
		err = t.joinDevice(device)
	}
	if err != nil {
		return store.Enrolled{}, err
	}
	if done.Source, err = t.takeBinding(e, code, device, now); err != nil {
		return store.Enrolled{}, err
	}
	var spent *time.Time // a device that joins has shown its token
	if done.Joined {
		spent = &now
	}
	_, err = t.exec(`UPDATE device_enrollment_codes SET status = ?, device_id = ?, source_instance_id = ?, consumed_at = ?, spent_at = ? WHERE code_id = ?`,
		store.CodeConsumed, device, done.Source.ID, stamp(now), stampOrNull(spent), code.ID)
	return done, err
}

// enrolAgain answers for a code whose answer may have been lost.
func (t *tx) enrolAgain(e store.Enrolment, code store.DeviceCode, now time.Time) (store.Enrolled, error) {
	err := t.holdDevice(code.DeviceID)
	if errors.Is(err, store.ErrNotFound) {
		return store.Enrolled{}, store.ErrCodeUsed
	}
	if err != nil {
		return store.Enrolled{}, err
	}
	var first string
	if err := t.row(`SELECT last_address FROM device_exporters WHERE device_id = ?`,
		code.DeviceID).Scan(&first); err != nil {
		return store.Enrolled{}, err
	}
	if first != "" && first != e.Address && e.Joins == "" {
		return store.Enrolled{}, store.ErrCodeUsed // who used it first is not who uses it now
	}
	source, err := t.source(`source_instance_id = ?`, code.SourceID)
	if errors.Is(err, store.ErrNotFound) {
		return store.Enrolled{}, store.ErrCodeUsed // another has taken its place
	}
	if err != nil || e.Joins != "" {
		return store.Enrolled{Source: source, Joined: true}, err
	}
	if err := t.endCredentials(code.DeviceID, now, `1 = 1`); err != nil {
		return store.Enrolled{}, err
	}
	return store.Enrolled{Source: source}, t.insertCredential(store.DeviceCredential{
		ID: e.CredentialID, DeviceID: code.DeviceID, TokenHash: e.TokenHash, CodeID: code.ID, CreatedAt: now,
	})
}

// source reads an active source.
func (t *tx) source(which string, args ...any) (store.DeviceSource, error) {
	return get(t.db, t.row(`SELECT `+sourceColumns+` FROM device_source_instances WHERE status = ? AND `+which,
		append([]any{store.DeviceActive}, args...)...), scanSource)
}

// newDeviceSetting is the row that whoever makes a device holds.
const newDeviceSetting = "new_device"

func (t *tx) newDevice(e store.Enrolment, codeID string, now time.Time) error {
	// Whoever else makes a device waits here, so that none is counted too late.
	_, err := t.exec(insertSetting+` DO UPDATE SET updated_at = excluded.updated_at`, newDeviceSetting, blob([]byte{}), stamp(now))
	if err != nil {
		return err
	}
	var devices int
	if err := t.row(`SELECT count(*) FROM device_exporters WHERE status = ?`, store.DeviceActive).Scan(&devices); err != nil {
		return err
	}
	if devices >= store.MaxDevices {
		return store.ErrDeviceLimit
	}
	_, err = t.exec(`INSERT INTO device_exporters (`+deviceColumns+`) VALUES (?, ?, ?, ?, ?, NULL, NULL, NULL, ?, NULL, NULL, ?, ?, NULL)`,
		e.DeviceID, e.Label, store.DeviceActive, e.AgentVersion, e.ProtocolVersion, e.Address, stamp(now), stamp(now))
	if err != nil {
		return err
	}
	return t.insertCredential(store.DeviceCredential{ID: e.CredentialID, DeviceID: e.DeviceID, TokenHash: e.TokenHash, CodeID: codeID, CreatedAt: now})
}

// joinDevice says whether a device may have one more source.
func (t *tx) joinDevice(id string) error {
	if err := t.holdDevice(id); err != nil {
		return err
	}
	var sources int
	err := t.row(`SELECT count(*) FROM device_source_instances WHERE device_id = ? AND status = ?`, id, store.DeviceActive).Scan(&sources)
	if err == nil && sources >= store.MaxSourcesPerDevice {
		err = store.ErrDeviceLimit
	}
	return err
}

// takeBinding gives the source by which the device collects the binding from now on. One
// that it has already goes on, within what the owner allows now; that of another device
// ends.
func (t *tx) takeBinding(e store.Enrolment, code store.DeviceCode, device string, now time.Time) (store.DeviceSource, error) {
	s := store.DeviceSource{
		ID: e.SourceID, DeviceID: device, ConnectorID: code.ConnectorID, LocalBinding: code.LocalBinding, SourceKind: store.SourceLocalDevice,
		Status: store.DeviceActive, ManifestGeneration: e.ManifestGeneration, Generation: 1, Scope: e.Scope, CreatedAt: storedTime(now), UpdatedAt: storedTime(now),
	}
	err := t.row(`SELECT connection_id, display_name FROM connections WHERE connector_id = ? AND local_binding = ? AND status <> ?`,
		code.ConnectorID, code.LocalBinding, store.ConnectionRevoked).Scan(&s.ConnectionID, &s.DisplayName)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		s.DisplayName = e.ConnectionName
		s.ConnectionID, err = t.newLocalConnection(s, now)
	case err == nil:
		// Whoever takes the binding over at the same moment waits here, and finds the source
		// that was made meanwhile.
		if _, err = t.lockLease(s.ConnectionID, now); err != nil {
			break
		}
		var own store.DeviceSource
		if own, err = t.source(`connection_id = ? AND device_id = ?`, s.ConnectionID, device); err == nil {
			own.Scope, own.UpdatedAt = s.Scope, s.UpdatedAt
			_, err = t.exec(`UPDATE device_source_instances SET collection_scope_json = ?, updated_at = ? WHERE source_instance_id = ?`, text(own.Scope), stamp(now), own.ID)
			return own, err
		}
		if !errors.Is(err, store.ErrNotFound) {
			break
		}
		if err = t.row(`SELECT coalesce(max(generation), 0) + 1 FROM device_source_instances WHERE connection_id = ?`, s.ConnectionID).Scan(&s.Generation); err == nil {
			err = t.endSources("device_replaced", now, `connection_id = ?`, s.ConnectionID)
		}
	}
	if err != nil {
		return store.DeviceSource{}, err
	}
	if err := t.insertSource(s); err != nil {
		return store.DeviceSource{}, err
	}
	return s, t.touch(s.ConnectionID)
}

// newLocalConnection makes the connection of a binding, cin_<connector>_<n>.
func (t *tx) newLocalConnection(s store.DeviceSource, now time.Time) (id string, err error) {
	for n := 1; ; n++ {
		id = fmt.Sprintf("cin_%s_%d", s.ConnectorID, n)
		made, err := t.exec(`INSERT INTO connections (`+connectionColumns+`) VALUES (?, ?, ?, ?, ?, NULL, ?, ?, ?, ?)
			ON CONFLICT (connection_id) DO NOTHING`, id, s.ConnectorID, s.DisplayName, store.ConnectionActive, store.SourceLocalDevice,
			s.LocalBinding, s.ManifestGeneration, stamp(now), stamp(now))
		if err != nil || made > 0 {
			return id, err
		}
	}
}
