package store

import (
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Devices are machines that collect for the owner, the sources on them, and what lets
// them in. Of codes and tokens only the SHA-256 is kept.
//
// Whoever writes for a source locks the lease of its connection first, then the source,
// then the connection: so do enrolling and revoking, which end sources.
type Devices interface {
	PutDevice(ctx context.Context, d Device) error
	Device(ctx context.Context, id string) (Device, error)
	ListDevices(ctx context.Context) ([]Device, error)
	// RenameDevice fails with ErrNotFound when there is no such device.
	RenameDevice(ctx context.Context, id, name string, now time.Time) error
	// PutDeviceSource leaves generation and highest batch of a source that is there as they are.
	PutDeviceSource(ctx context.Context, s DeviceSource) error
	DeviceSource(ctx context.Context, id string) (DeviceSource, error)
	// DeviceSources lists a device's sources; an empty id means every device.
	DeviceSources(ctx context.Context, deviceID string) ([]DeviceSource, error)

	// CreateDeviceCode keeps a code that enrols a device, and forgets those that expired
	// long ago.
	CreateDeviceCode(ctx context.Context, c DeviceCode) error
	// DeviceCode finds one by its hash, DeviceCodes lists those that have not been
	// forgotten, the newest first.
	DeviceCode(ctx context.Context, hash []byte) (DeviceCode, error)
	DeviceCodes(ctx context.Context) ([]DeviceCode, error)
	// CancelDeviceCode ends a code that nobody has used; ErrNotFound for any other.
	CancelDeviceCode(ctx context.Context, id string) error
	// EnrolDevice uses a code. The same code gives the same device and source, and a token
	// that ends the earlier one, until a token of it was first shown, to the address that used it first. The source that
	// had the binding before ends with its run, and its records stay with the connection. The errors are ErrNotFound,
	// ErrCodeUsed, ErrCodeExpired and ErrDeviceLimit.
	EnrolDevice(ctx context.Context, e Enrolment, now time.Time) (Enrolled, error)

	// DeviceCredential finds one by the hash of its token, whatever its standing.
	DeviceCredential(ctx context.Context, tokenHash []byte) (DeviceCredential, error)
	// UseDeviceCredential notes when and from where the token was shown. For the first time
	// it ends the other tokens of the device and spends the code. ErrNotFound when the
	// token is not good any more.
	UseDeviceCredential(ctx context.Context, id, address string, now time.Time) error
	// NoteInstallation keeps which installation of the collector shows a device's token. Two
	// that take turns, one back within a day of the other's first word, are noted, and the
	// device's connections are looked at.
	NoteInstallation(ctx context.Context, deviceID, installation string, now time.Time) error
	// RotateDeviceCredential adds a token, which ends the others when it is first shown. One
	// that was never shown is replaced at once. ErrNotFound when the device is revoked.
	RotateDeviceCredential(ctx context.Context, c DeviceCredential) error
	// RevokeDevice ends a device with its tokens, sources and their runs: what began to
	// commit before is in or is not, and nothing begins after. ErrNotFound when there is
	// none; a second time changes nothing, and gives when it ended.
	RevokeDevice(ctx context.Context, id string, now time.Time) (at time.Time, err error)
}

// What devices, sources, credentials and codes are.
const (
	DeviceActive  = "active"
	DeviceRevoked = "revoked"

	CodePending  = "pending"
	CodeConsumed = "consumed" // a device was enrolled with it
	CodeRevoked  = "revoked"  // the owner took it back
)

// How many devices and sources there may be.
const (
	MaxDevices          = 64
	MaxSourcesPerDevice = 32
)

// Device is a row of device_exporters.
type Device struct {
	ID              string         `json:"device_id"`
	DisplayName     string         `json:"display_name"`
	Status          string         `json:"status"` // active or revoked
	AgentVersion    string         `json:"agent_version"`
	ProtocolVersion string         `json:"collector_protocol_version"`
	LastHeartbeatAt *time.Time     `json:"last_heartbeat_at"`
	LastError       jsontext.Value `json:"last_error,omitzero"`
	LastUsedAt      *time.Time     `json:"last_used_at"` // when its token was last shown
	LastAddress     string         `json:"last_address,omitzero"`
	// Installation is the one that showed the token last; nil before the first word.
	Installation *string `json:"-"`
	// DoubledAt is when two installations were last seen to take turns with the token.
	DoubledAt *time.Time `json:"doubled_at"`
	CreatedAt time.Time  `json:"created_at"`
	UpdatedAt time.Time  `json:"updated_at"`
	RevokedAt *time.Time `json:"revoked_at"`
}

// DeviceSource is a row of device_source_instances.
type DeviceSource struct {
	ID                  string         `json:"source_instance_id"`
	DeviceID            string         `json:"device_id"`
	ConnectorID         string         `json:"connector_id"`
	ConnectionID        string         `json:"connection_id"`
	LocalBinding        string         `json:"local_binding_id"`
	SourceKind          SourceKind     `json:"source_kind"`
	DisplayName         string         `json:"display_name"`
	Status              string         `json:"status"` // active or revoked
	LastError           jsontext.Value `json:"last_error,omitzero"`
	LastHeartbeatAt     *time.Time     `json:"last_heartbeat_at"`
	LastHeartbeatStatus string         `json:"last_heartbeat_status,omitzero"`
	RecordsPending      *int64         `json:"records_pending"`
	OutboxDiagnostics   jsontext.Value `json:"outbox_diagnostics,omitzero"`
	ManifestGeneration  int64          `json:"manifest_generation"`
	// Generation rises with every source that takes the connection over. What a source
	// commits is fenced by it, within the transaction.
	Generation int64 `json:"generation"`
	// MaxBatchSeq is the highest that was accepted of this source.
	MaxBatchSeq int64 `json:"max_batch_seq"`
	// ClockSkew is the device's clock minus ours, in seconds; nil when not measured.
	ClockSkew *int64 `json:"clock_skew_s"`
	// Scope is what is collected at most; nothing means everything.
	Scope     jsontext.Value `json:"collection_scope,omitzero"`
	CreatedAt time.Time      `json:"created_at"`
	UpdatedAt time.Time      `json:"updated_at"`
	RevokedAt *time.Time     `json:"revoked_at"`
}

// DeviceCode is a row of device_enrollment_codes: with it a device enrols for a source.
type DeviceCode struct {
	ID           string
	Hash         []byte
	ConnectorID  string
	LocalBinding string
	DisplayName  string // of the connection; empty means that of the connector
	Status       string // pending, consumed or revoked
	Scope        jsontext.Value
	DeviceID     string // that was enrolled with it
	SourceID     string
	CreatedAt    time.Time
	ExpiresAt    time.Time
	ConsumedAt   *time.Time
	SpentAt      *time.Time // when a token of it was first shown
}

// DeviceCredential is a row of device_ingest_credentials.
type DeviceCredential struct {
	ID         string
	DeviceID   string
	TokenHash  []byte
	Status     string
	CodeID     string // that it was given for
	CreatedAt  time.Time
	LastUsedAt *time.Time
	RevokedAt  *time.Time
}

// Enrolment is the use of a code. The ids and the token are for what is made anew.
type Enrolment struct {
	CodeHash []byte
	// Joins is the device that the source is added to; empty for a new one.
	Joins string

	// Address is where the code is used from. A second use is refused from another one.
	Address string

	DeviceID, Label, AgentVersion, ProtocolVersion string
	SourceID                                       string
	CredentialID                                   string
	TokenHash                                      []byte
	// ConnectionName is for a connection that has no other, ManifestGeneration that of
	// its connector.
	ConnectionName     string
	ManifestGeneration int64
	Scope              jsontext.Value
}

// Enrolled is what an enrolment made or found.
type Enrolled struct {
	Source DeviceSource
	// Joined says that the device was there already, with a token of its own: the one of
	// the enrolment was not kept.
	Joined bool
}
