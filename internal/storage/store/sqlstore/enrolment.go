package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

func (db *DB) EnrolDevice(
	ctx context.Context, e store.Enrolment, now time.Time,
) (done store.EnrolmentResult, err error) {
	for {
		err = db.write(ctx, func(tx *tx) error {
			done, err = tx.enrol(e, now)
			return err
		})
		// Another code has just created the connection of this binding: use that one.
		if !errors.Is(err, store.ErrExists) {
			return done, err
		}
	}
}

func (t *tx) enrol(e store.Enrolment, now time.Time) (store.EnrolmentResult, error) {
	// A concurrent use of the code waits here.
	code, err := getRow(t.db, t.row(`UPDATE device_enrollment_codes SET status = status WHERE code_hash = ?
		RETURNING `+codeColumns, nonNilBytes(e.CodeHash)), scanCode)
	if err != nil {
		return store.EnrolmentResult{}, err
	}
	again := code.Status == store.CodeConsumed && (code.SpentAt == nil || e.Joins == code.DeviceID)
	switch {
	case code.Status != store.CodePending && !again:
		return store.EnrolmentResult{}, store.ErrCodeUsed
	case !now.Before(code.ExpiresAt):
		return store.EnrolmentResult{}, store.ErrCodeExpired
	case again:
		return t.enrolAgain(e, code, now)
	}
	done := store.EnrolmentResult{Joined: e.Joins != ""}
	device := e.Joins
	if device == "" {
		device, err = e.DeviceID, t.newDevice(e, code.ID, now)
	} else {
		err = t.checkSourceLimit(device)
	}
	if err != nil {
		return store.EnrolmentResult{}, err
	}
	if done.Source, err = t.takeBinding(e, code, device, now); err != nil {
		return store.EnrolmentResult{}, err
	}
	var spent *time.Time // a joining device has presented its token
	if done.Joined {
		spent = &now
	}
	_, err = t.exec(`UPDATE device_enrollment_codes SET status = ?, device_id = ?, source_instance_id = ?, consumed_at = ?,
		spent_at = ? WHERE code_id = ?`,
		store.CodeConsumed, device, done.Source.ID, formatTime(now), timeOrNull(spent), code.ID)
	return done, err
}

// enrolAgain repeats the answer to a code, which may have been lost.
func (t *tx) enrolAgain(e store.Enrolment, code store.DeviceCode, now time.Time) (store.EnrolmentResult, error) {
	err := t.lockActiveDevice(code.DeviceID)
	if errors.Is(err, store.ErrNotFound) {
		return store.EnrolmentResult{}, store.ErrCodeUsed
	}
	if err != nil {
		return store.EnrolmentResult{}, err
	}
	var first string
	if err := t.row(`SELECT last_address FROM device_exporters WHERE device_id = ?`,
		code.DeviceID).Scan(&first); err != nil {
		return store.EnrolmentResult{}, err
	}
	if first != "" && first != e.Address && e.Joins == "" {
		return store.EnrolmentResult{}, store.ErrCodeUsed // another address used it first
	}
	source, err := t.activeSource(`source_instance_id = ?`, code.SourceID)
	if errors.Is(err, store.ErrNotFound) {
		return store.EnrolmentResult{}, store.ErrCodeUsed // another source has replaced it
	}
	if err != nil || e.Joins != "" {
		return store.EnrolmentResult{Source: source, Joined: true}, err
	}
	if err := t.endCredentials(code.DeviceID, now, `1 = 1`); err != nil {
		return store.EnrolmentResult{}, err
	}
	return store.EnrolmentResult{Source: source}, t.insertCredential(store.DeviceCredential{
		ID: e.CredentialID, DeviceID: code.DeviceID, TokenHash: e.TokenHash, CodeID: code.ID, CreatedAt: now,
	})
}

// activeSource reads an active source.
func (t *tx) activeSource(which string, args ...any) (store.DeviceSource, error) {
	return getRow(t.db, t.row(`SELECT `+sourceColumns+` FROM device_source_instances WHERE status = ? AND `+which,
		append([]any{store.DeviceActive}, args...)...), scanSource)
}

// newDeviceSetting is the row that is locked while a device is created.
const newDeviceSetting = "new_device"

func (t *tx) newDevice(e store.Enrolment, codeID string, now time.Time) error {
	// A concurrent enrolment waits here, so that the count below is exact.
	_, err := t.exec(insertSetting+` DO UPDATE SET updated_at = excluded.updated_at`, newDeviceSetting,
		nonNilBytes([]byte{}), formatTime(now))
	if err != nil {
		return err
	}
	var devices int
	if err := t.row(`SELECT count(*) FROM device_exporters WHERE status = ?`,
		store.DeviceActive).Scan(&devices); err != nil {
		return err
	}
	if devices >= store.MaxDevices {
		return store.ErrDeviceLimit
	}
	_, err = t.exec(`INSERT INTO device_exporters (`+deviceColumns+`) VALUES (?, ?, ?, ?, ?, NULL, NULL, NULL, ?, NULL,
		NULL, ?, ?, NULL)`,
		e.DeviceID, e.Label, store.DeviceActive, e.AgentVersion, e.ProtocolVersion, e.Address, formatTime(now),
		formatTime(now))
	if err != nil {
		return err
	}
	return t.insertCredential(store.DeviceCredential{ID: e.CredentialID, DeviceID: e.DeviceID, TokenHash: e.TokenHash,
		CodeID: codeID, CreatedAt: now})
}

// checkSourceLimit checks whether a device may have one more source.
func (t *tx) checkSourceLimit(id string) error {
	if err := t.lockActiveDevice(id); err != nil {
		return err
	}
	var sources int
	err := t.row(`SELECT count(*) FROM device_source_instances WHERE device_id = ? AND status = ?`, id,
		store.DeviceActive).Scan(&sources)
	if err == nil && sources >= store.MaxSourcesPerDevice {
		err = store.ErrDeviceLimit
	}
	return err
}

// takeBinding returns the source with which the device collects the binding from now on. An existing source of the
// device continues with the scope that the owner allows now; that of another device ends.
func (t *tx) takeBinding(
	e store.Enrolment, code store.DeviceCode, device string, now time.Time,
) (store.DeviceSource, error) {
	s := store.DeviceSource{
		ID: e.SourceID, DeviceID: device, ConnectorID: code.ConnectorID, LocalBinding: code.LocalBinding,
		SourceKind: store.SourceLocalDevice,
		Status:     store.DeviceActive, ManifestGeneration: e.ManifestGeneration, Generation: 1, Scope: e.Scope,
		CreatedAt: storedTime(now), UpdatedAt: storedTime(now),
	}
	err := t.row(`SELECT connection_id, display_name FROM connections WHERE connector_id = ? AND local_binding = ?
		AND status <> ?`,
		code.ConnectorID, code.LocalBinding, store.ConnectionRevoked).Scan(&s.ConnectionID, &s.DisplayName)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		s.DisplayName = e.ConnectionName
		s.ConnectionID, err = t.newLocalConnection(s, now)
	case err == nil:
		// A concurrent enrolment of the binding waits here and then finds the new source.
		if _, err = t.lockLease(s.ConnectionID, now); err != nil {
			break
		}
		var own store.DeviceSource
		if own, err = t.activeSource(`connection_id = ? AND device_id = ?`, s.ConnectionID, device); err == nil {
			own.Scope, own.UpdatedAt = s.Scope, s.UpdatedAt
			_, err = t.exec(`UPDATE device_source_instances SET collection_scope_json = ?, updated_at = ?
				WHERE source_instance_id = ?`, jsonOrNull(own.Scope), formatTime(now), own.ID)
			return own, err
		}
		if !errors.Is(err, store.ErrNotFound) {
			break
		}
		if err = t.row(`SELECT coalesce(max(generation), 0) + 1 FROM device_source_instances WHERE connection_id = ?`,
			s.ConnectionID).Scan(&s.Generation); err == nil {
			err = t.endSources("device_replaced", now, `connection_id = ?`, s.ConnectionID)
		}
	}
	if err != nil {
		return store.DeviceSource{}, err
	}
	if err := t.insertSource(s); err != nil {
		return store.DeviceSource{}, err
	}
	return s, t.markChanged(s.ConnectionID)
}

// newLocalConnection creates the connection of a binding, cin_<connector>_<n>.
func (t *tx) newLocalConnection(s store.DeviceSource, now time.Time) (id string, err error) {
	for n := 1; ; n++ {
		id = fmt.Sprintf("cin_%s_%d", s.ConnectorID, n)
		made, err := t.exec(`INSERT INTO connections (`+connectionColumns+`) VALUES (?, ?, ?, ?, ?, NULL, ?, ?, ?, ?)
			ON CONFLICT (connection_id) DO NOTHING`, id, s.ConnectorID, s.DisplayName, store.ConnectionActive,
			store.SourceLocalDevice,
			s.LocalBinding, s.ManifestGeneration, formatTime(now), formatTime(now))
		if err != nil || made > 0 {
			return id, err
		}
	}
}
