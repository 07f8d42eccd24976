package store

import (
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Devices stores devices, the sources on them, and their credentials. Codes and tokens are stored only as SHA-256.
//
// A writer for a source locks the lease of its connection first, then the source, then the connection. Enrolment and
// revocation, which end sources, lock in the same order.
type Devices interface {
	PutDevice(ctx context.Context, d Device) error
	Device(ctx context.Context, id string) (Device, error)
	ListDevices(ctx context.Context) ([]Device, error)
	// RenameDevice returns ErrNotFound for an unknown device.
	RenameDevice(ctx context.Context, id, name string, now time.Time) error
	// PutDeviceSource leaves the generation and the highest batch of an existing source unchanged.
	PutDeviceSource(ctx context.Context, s DeviceSource) error
	DeviceSource(ctx context.Context, id string) (DeviceSource, error)
	// DeviceSources lists a device's sources; an empty id means all devices.
	DeviceSources(ctx context.Context, deviceID string) ([]DeviceSource, error)

	// CreateDeviceCode stores an enrolment code and deletes codes that expired long ago.
	CreateDeviceCode(ctx context.Context, c DeviceCode) error
	// DeviceCode finds a code by its hash. DeviceCodes lists the stored codes, newest first.
	DeviceCode(ctx context.Context, hash []byte) (DeviceCode, error)
	DeviceCodes(ctx context.Context) ([]DeviceCode, error)
	// CancelDeviceCode revokes an unused code; ErrNotFound for any other.
	CancelDeviceCode(ctx context.Context, id string) error
	// EnrolDevice uses a code. Until a token of it is first presented, the same code from the same address returns
	// the same device and source, with a token that replaces the earlier one. The source that had the binding before
	// ends with its run; its records stay with the connection. It returns ErrNotFound, ErrCodeUsed, ErrCodeExpired or
	// ErrDeviceLimit.
	EnrolDevice(ctx context.Context, e Enrolment, now time.Time) (EnrolmentResult, error)

	// DeviceCredential finds a credential by the hash of its token, whether or not it is still valid.
	DeviceCredential(ctx context.Context, tokenHash []byte) (DeviceCredential, error)
	// UseDeviceCredential records when and from where the token was presented. The first use revokes the device's
	// other tokens and uses the code up. It returns ErrNotFound when the token is no longer valid.
	UseDeviceCredential(ctx context.Context, id, address string, now time.Time) error
	// NoteInstallation records which installation of the collector presents a device's token. When two installations
	// alternate within a day, it records that, and marks the device's connections as changed.
	NoteInstallation(ctx context.Context, deviceID, installation string, now time.Time) error
	// RotateDeviceCredential adds a token, which revokes the others when it is first presented. It replaces a token
	// that was never presented. It returns ErrNotFound when the device is revoked.
	RotateDeviceCredential(ctx context.Context, c DeviceCredential) error
	// RevokeDevice revokes a device with its tokens, sources and their runs. Commits that started before either
	// complete or fail, and none starts after. It returns ErrNotFound for an unknown device. A second call changes
	// nothing and returns the time of the first.
	RevokeDevice(ctx context.Context, id string, now time.Time) (at time.Time, err error)
}

// States of devices, sources, credentials and codes.
const (
	DeviceActive  = "active"
	DeviceRevoked = "revoked"

	CodePending  = "pending"
	CodeConsumed = "consumed" // a device was enrolled with it
	CodeRevoked  = "revoked"  // the owner cancelled it
)

// Limits on the number of devices and sources.
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
	LastUsedAt      *time.Time     `json:"last_used_at"` // when its token was last presented
	LastAddress     string         `json:"last_address,omitzero"`
	// Installation is the one that presented the token last; nil before the first report.
	Installation *string `json:"-"`
	// DoubledAt is when two installations were last seen to use the token in turn.
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
	// Generation increases with every source that takes the connection over. Every commit of a source checks it
	// within its transaction.
	Generation int64 `json:"generation"`
	// MaxBatchSeq is the highest accepted batch of this source.
	MaxBatchSeq int64 `json:"max_batch_seq"`
	// ClockSkew is the device's clock minus the server's, in seconds; nil when not measured.
	ClockSkew *int64 `json:"clock_skew_s"`
	// Scope limits what is collected; empty means everything.
	Scope     jsontext.Value `json:"collection_scope,omitzero"`
	CreatedAt time.Time      `json:"created_at"`
	UpdatedAt time.Time      `json:"updated_at"`
	RevokedAt *time.Time     `json:"revoked_at"`
}

// DeviceCode is a row of device_enrollment_codes: a device uses it to enrol for a source.
type DeviceCode struct {
	ID           string
	Hash         []byte
	ConnectorID  string
	LocalBinding string
	DisplayName  string // name for the connection; empty means the connector's name
	Status       string // pending, consumed or revoked
	Scope        jsontext.Value
	DeviceID     string // the device that used it
	SourceID     string
	CreatedAt    time.Time
	ExpiresAt    time.Time
	ConsumedAt   *time.Time
	SpentAt      *time.Time // when a token of it was first presented
}

// DeviceCredential is a row of device_ingest_credentials.
type DeviceCredential struct {
	ID         string
	DeviceID   string
	TokenHash  []byte
	Status     string
	CodeID     string // the code that it was issued for
	CreatedAt  time.Time
	LastUsedAt *time.Time
	RevokedAt  *time.Time
}

// Enrolment is the use of a code. Its ids and token are used for what is newly created.
type Enrolment struct {
	CodeHash []byte
	// Joins is the device to add the source to; empty for a new device.
	Joins string

	// Address is where the code is used from. Another address cannot use it again.
	Address string

	DeviceID, Label, AgentVersion, ProtocolVersion string
	SourceID                                       string
	CredentialID                                   string
	TokenHash                                      []byte
	// ConnectionName is for a connection without a name. ManifestGeneration is that of its connector.
	ConnectionName     string
	ManifestGeneration int64
	Scope              jsontext.Value
}

// EnrolmentResult is what an enrolment created or found.
type EnrolmentResult struct {
	Source DeviceSource
	// Joined means that the device existed with a token of its own, so the token of the enrolment was not stored.
	Joined bool
}
