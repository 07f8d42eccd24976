package api

import (
	"context"
	"time"

	"github.com/pdpp-go/pdpp/internal/device/wire"
)

// Devices is the machines that collect for the owner, and letting them in.
type Devices interface {
	// Devices lists them, with the sources on them; revoked ones too.
	Devices(ctx context.Context) ([]Device, error)
	RenameDevice(ctx context.Context, id, name string) error
	// RevokeDevice ends a device at once: nothing that it sends is taken any more. What it
	// sent stays.
	RevokeDevice(ctx context.Context, id string) error
	// UndoDevice reverts what a revoked device sent at or after a moment. Records that existed before get their
	// earlier content back; others are deleted. Both keep their history. Gaps that the device closed are open again.
	// Bookmarks move back, so that the next collector reads the data again. A second call changes nothing.
	UndoDevice(ctx context.Context, id string, since time.Time) (DeviceUndone, error)
	// DeviceDiagnostics returns, for every device, what its sources counted, covered and missed.
	DeviceDiagnostics(ctx context.Context) ([]DeviceDiagnosis, error)
	// AddDevice creates a single-use code that sets up a computer to collect a source. The code and the command that
	// contains it cannot be read again.
	AddDevice(ctx context.Context, n NewDevice) (DeviceCode, error)
	// DeviceCodes lists the codes of the last day, the newest first, without what opens.
	DeviceCodes(ctx context.Context) ([]DeviceCode, error)
	// CancelDeviceCode cancels an unused code.
	CancelDeviceCode(ctx context.Context, id string) error
}

// Device is a machine that collects, with the sources on it.
type Device struct {
	ID              string     `json:"device_id"`
	DisplayName     string     `json:"display_name"`
	Status          string     `json:"status"` // active or revoked
	AgentVersion    string     `json:"agent_version"`
	ProtocolVersion string     `json:"collector_protocol_version"`
	LastHeartbeatAt *time.Time `json:"last_heartbeat_at"`
	LastUsedAt      *time.Time `json:"last_used_at"` // when its token was last shown
	LastAddress     string     `json:"last_address"` // from where
	// when two installations were last seen to take turns with its access
	DoubledAt *time.Time     `json:"doubled_at"`
	CreatedAt time.Time      `json:"created_at"`
	RevokedAt *time.Time     `json:"revoked_at"`
	Sources   []DeviceSource `json:"sources"`
}

// DeviceSource is one connection that a device feeds.
type DeviceSource struct {
	ID               string           `json:"source_instance_id"`
	DeviceID         string           `json:"device_id"`
	ConnectionID     string           `json:"connection_id"`
	DisplayName      string           `json:"display_name"`
	ConnectorID      string           `json:"connector_id"`
	LocalBindingName string           `json:"local_binding_name"`
	Status           string           `json:"status"` // active or revoked
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

// DeviceUndone is what was taken back.
type DeviceUndone struct {
	Since     time.Time `json:"since"`
	Restored  int64     `json:"records_restored"` // that were there before
	Deleted   int64     `json:"records_deleted"`  // that were not
	Bookmarks int64     `json:"bookmarks_rewound"`
	Gaps      int64     `json:"gaps_reopened"`
	RunIDs    []string  `json:"run_ids"` // in which it happened, one for each connection
}

// DeviceDiagnosis is a device with what is known of its sources.
type DeviceDiagnosis struct {
	Device
	Diagnostics []SourceDiagnosis `json:"diagnostics"`
}

// SourceDiagnosis is what is known about a source. It contains only counts and codes.
type SourceDiagnosis struct {
	SourceID     string     `json:"source_instance_id"`
	ConnectionID string     `json:"connection_id"`
	MaxBatchSeq  int64      `json:"max_batch_seq"` // the highest that was taken
	LastUploadAt *time.Time `json:"last_upload_at"`
	LastRunID    string     `json:"last_run_id"`
	LastRun      string     `json:"last_run_status"` // empty before the first
	// Coverage is how the source accounted for the stores that it knows.
	Coverage []SourceCoverage `json:"coverage"`
	// Gaps is what is missing and will be tried again, GapsForGood how much will not be; null
	// when it could not be read.
	Gaps        []SourceGapCount `json:"gaps" nullable:"true"`
	GapsForGood *int64           `json:"terminal_gaps"` // how many will not be tried again
}

// SourceCoverage is one store on a device and what became of it.
type SourceCoverage struct {
	Store  string `json:"store"`
	Stream string `json:"stream"`
	Status string `json:"status"`
}

// SourceGapCount counts what is missing for one reason.
type SourceGapCount struct {
	Stream string `json:"stream"`
	Reason string `json:"reason"`
	Count  int64  `json:"count"`
}

// CollectionScope limits what a device collects; what is left out is not limited.
type CollectionScope = wire.CollectionScope

// NewDevice is what a code is asked for.
type NewDevice struct {
	ConnectorID string `json:"connector_id"`
	// LocalBindingName distinguishes sources of one connector; empty for a new one. The name of an existing
	// connection transfers that connection to the device that uses the code.
	LocalBindingName string `json:"local_binding_name" required:"false"`
	DisplayName      string `json:"display_name,omitempty"` // of the connection
	// from 60 to 86400; 900 by default
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
	Object string `json:"object"` // device_exporter_enrollment_code
	ID     string `json:"code_id"`
	// only in the answer that makes it
	Code             string           `json:"enrollment_code,omitempty"`
	Command          string           `json:"command,omitempty"` // to paste on the computer
	ConnectorID      string           `json:"connector_id"`
	LocalBindingName string           `json:"local_binding_name"`
	DisplayName      string           `json:"display_name"`
	Status           string           `json:"status"` // waiting, connected, cancelled or expired
	CreatedAt        time.Time        `json:"created_at"`
	ExpiresAt        time.Time        `json:"expires_at"`
	CollectionScope  *CollectionScope `json:"collection_scope"`
	// The device that used it.
	DeviceID     string `json:"device_id,omitempty"`
	DeviceName   string `json:"device_name,omitempty"`
	ConnectionID string `json:"connection_id,omitempty"`
}
