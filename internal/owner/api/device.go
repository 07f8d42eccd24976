package api

import (
	"context"
	"time"

	"pdpp/internal/device/wire"
)

// Devices is the machines that collect for the owner, and letting them in.
type Devices interface {
	// Devices lists them, with the sources on them; revoked ones too.
	Devices(ctx context.Context) ([]Device, error)
	RenameDevice(ctx context.Context, id, name string) error
	// RevokeDevice ends a device at once: nothing that it sends is taken any more. What it
	// sent stays.
	RevokeDevice(ctx context.Context, id string) error
	// AddDevice makes a code with which a computer is set up, once, to collect a source. The
	// code and the command with it are given here and never again.
	AddDevice(ctx context.Context, n NewDevice) (DeviceCode, error)
	// DeviceCodes lists the codes of the last day, the newest first, without what opens.
	DeviceCodes(ctx context.Context) ([]DeviceCode, error)
	// CancelDeviceCode takes a code back that nobody has used.
	CancelDeviceCode(ctx context.Context, id string) error
}

// Device is a machine that collects, with the sources on it.
type Device struct {
	ID              string         `json:"device_id"`
	DisplayName     string         `json:"display_name"`
	Status          string         `json:"status"` // active or revoked
	AgentVersion    string         `json:"agent_version"`
	ProtocolVersion string         `json:"collector_protocol_version"`
	LastHeartbeatAt *time.Time     `json:"last_heartbeat_at"`
	LastUsedAt      *time.Time     `json:"last_used_at"` // when its token was last shown
	LastAddress     string         `json:"last_address"` // from where
	CreatedAt       time.Time      `json:"created_at"`
	RevokedAt       *time.Time     `json:"revoked_at"`
	Sources         []DeviceSource `json:"sources"`
}

// DeviceSource is one connection that a device feeds.
type DeviceSource struct {
	ID               string           `json:"source_instance_id"`
	DeviceID         string           `json:"device_id"`
	ConnectionID     string           `json:"connection_id"`
	DisplayName      string           `json:"display_name"`
	ConnectorID      string           `json:"connector_id"`
	LocalBindingName string           `json:"local_binding_name"`
	Status           string           `json:"status"`
	LastHeartbeatAt  *time.Time       `json:"last_heartbeat_at"`
	HeartbeatStatus  string           `json:"last_heartbeat_status"`
	ErrorKind        string           `json:"last_error_kind"`  // a code; empty for none
	RecordsPending   *int64           `json:"records_pending"`  // null: not counted
	Queue            *DeviceQueue     `json:"outbox"`           // null: not counted
	ClockSkewSeconds *int64           `json:"clock_skew_s"`     // the device's clock minus ours; null: not measured
	CollectionScope  *CollectionScope `json:"collection_scope"` // null: everything
	CreatedAt        time.Time        `json:"created_at"`
	RevokedAt        *time.Time       `json:"revoked_at"`
}

// DeviceQueue is what waits on a device, as it counted it.
type DeviceQueue struct {
	Pending         int64      `json:"pending"`
	Retrying        int64      `json:"retrying"`
	DeadLetter      int64      `json:"dead_letter"`
	OldestPendingAt *time.Time `json:"oldest_pending_at"`
}

// CollectionScope limits what a device collects; what is left out is not limited.
type CollectionScope = wire.CollectionScope

// NewDevice is what a code is asked for.
type NewDevice struct {
	ConnectorID string `json:"connector_id"`
	// LocalBindingName tells sources of one connector apart; empty for a new one. That of a
	// connection which is there hands it over to the device that uses the code.
	LocalBindingName string           `json:"local_binding_name"`
	DisplayName      string           `json:"display_name,omitempty"` // of the connection
	ExpiresInSeconds int64            `json:"expires_in_seconds,omitempty"`
	CollectionScope  *CollectionScope `json:"collection_scope,omitempty"`
}

// How long a code lasts, in seconds.
const (
	LeastCodeSeconds = 60
	UsualCodeSeconds = 15 * 60
	MostCodeSeconds  = 24 * 60 * 60
)

// What has become of a code.
const (
	CodeWaiting   = "waiting"
	CodeConnected = "connected" // a computer was set up with it, and has reported in
	CodeCancelled = "cancelled"
	CodeExpired   = "expired"
)

// DeviceCode sets a computer up, once. Code and Command are there when it is made.
type DeviceCode struct {
	Object           string           `json:"object"` // device_exporter_enrollment_code
	ID               string           `json:"code_id"`
	Code             string           `json:"enrollment_code,omitempty"`
	Command          string           `json:"command,omitempty"` // to paste on the computer
	ConnectorID      string           `json:"connector_id"`
	LocalBindingName string           `json:"local_binding_name"`
	DisplayName      string           `json:"display_name"`
	Status           string           `json:"status"`
	CreatedAt        time.Time        `json:"created_at"`
	ExpiresAt        time.Time        `json:"expires_at"`
	CollectionScope  *CollectionScope `json:"collection_scope"`
	// The device that used it.
	DeviceID     string `json:"device_id,omitempty"`
	DeviceName   string `json:"device_name,omitempty"`
	ConnectionID string `json:"connection_id,omitempty"`
}
