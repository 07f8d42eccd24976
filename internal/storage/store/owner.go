package store

import (
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/protocol"
)

// ConnectionStatus is the state that the owner chose for a connection.
type ConnectionStatus string

const (
	ConnectionActive  ConnectionStatus = "active"
	ConnectionPaused  ConnectionStatus = "paused"
	ConnectionRevoked ConnectionStatus = "revoked"
	// ConnectionDraft is not in use yet: its form is being stored, or the owner has not consented at the provider.
	ConnectionDraft ConnectionStatus = "draft"
)

// SourceKind is where a connection's data comes from.
type SourceKind string

const (
	SourceAccount     SourceKind = "account"
	SourceLocalDevice SourceKind = "local_device"
	SourceBrowser     SourceKind = "browser_collector"
	SourceManual      SourceKind = "manual"
)

// Connection is one account at one source.
type Connection struct {
	ID          string           `json:"connection_id"`
	ConnectorID string           `json:"connector_id"`
	DisplayName string           `json:"display_name"`
	Status      ConnectionStatus `json:"status"`
	SourceKind  SourceKind       `json:"source_kind"`
	Binding     jsontext.Value   `json:"source_binding,omitzero"`
	// LocalBinding distinguishes connections of one connector that devices feed. It is empty for a connection that
	// the server collects.
	LocalBinding       string    `json:"local_binding,omitzero"`
	ManifestGeneration int64     `json:"manifest_generation"`
	CreatedAt          time.Time `json:"created_at"`
	UpdatedAt          time.Time `json:"updated_at"`
}

// Interactions stores questions to the owner. Answers are sealed to the run that asked, and deleted when the question
// is closed.
type Interactions interface {
	OpenInteraction(ctx context.Context, l Lease, i Interaction, now time.Time) error
	// CloseInteraction records how the question ended and deletes its key, sealed answer and page ticket. It returns
	// ErrNotFound when the question is not open.
	CloseInteraction(ctx context.Context, l Lease, requestID string, status protocol.ResponseStatus, now time.Time) error
	// OpenInteractions lists the open questions; an empty id means those of all connections.
	OpenInteractions(ctx context.Context, connectionID string) ([]Interaction, error)

	// AnswerInteraction stores an answer, sealed to the question's key, for the run that asked. It returns
	// ErrNotFound when the question is not open, has no key, or its run's lease expired, and ErrExists when it has an
	// answer.
	AnswerInteraction(ctx context.Context, runID, requestID string, sealed []byte, now time.Time) error
	// SealedAnswer returns the stored answer, or ErrNotFound.
	SealedAnswer(ctx context.Context, runID, requestID string) ([]byte, error)

	// PutPageTicket stores the digest of a secret that opens the page of an open question once, before until. It
	// replaces an earlier ticket. It returns ErrNotFound when the question is not open or its run's lease expired.
	PutPageTicket(ctx context.Context, runID, requestID string, digest []byte, until, now time.Time) error
	// TakePageTicket uses the ticket up. It returns ErrNotFound when the ticket is unknown or expired, the question
	// is not open, or its run's lease expired.
	TakePageTicket(ctx context.Context, runID, requestID string, digest []byte, now time.Time) error
}

// Interaction is one question and, once closed, its outcome.
type Interaction struct {
	RequestID    string                   `json:"request_id"`
	RunID        string                   `json:"run_id"`
	ConnectionID string                   `json:"connection_id"`
	Kind         protocol.InteractionKind `json:"kind"`
	Message      string                   `json:"message"`
	Schema       jsontext.Value           `json:"schema,omitzero"`
	Stream       string                   `json:"stream,omitzero"`
	// Key is the public key that an answer is sealed to. Without a key, the question can be answered only in the
	// process that asked.
	Key []byte `json:"-"`

	OpenedAt  time.Time               `json:"opened_at"`
	ExpiresAt *time.Time              `json:"expires_at"`
	ClosedAt  *time.Time              `json:"closed_at"`
	Status    protocol.ResponseStatus `json:"status,omitzero"`
}

// Schedules stores when runs of a connection start without the owner.
type Schedules interface {
	PutSchedule(ctx context.Context, s Schedule) error
	Schedule(ctx context.Context, connectionID string) (Schedule, error)
	ListSchedules(ctx context.Context) ([]Schedule, error)
	DeleteSchedule(ctx context.Context, connectionID string) error

	// PutBackoff replaces the connection's backoff. ClearBackoff removes it, if there is one.
	PutBackoff(ctx context.Context, b Backoff) error
	ClearBackoff(ctx context.Context, connectionID string) error
}

// Schedule is the interval at which a connection runs.
type Schedule struct {
	ConnectionID    string    `json:"connection_id"`
	IntervalSeconds int64     `json:"interval_seconds"`
	JitterSeconds   int64     `json:"jitter_seconds"`
	Enabled         bool      `json:"enabled"`
	CreatedAt       time.Time `json:"created_at"`
	UpdatedAt       time.Time `json:"updated_at"`
}

// Backoff is the scheduler's decision to wait before it retries a connection.
type Backoff struct {
	ConnectionID string
	evidence.Backoff
}

// Credentials stores sealed credentials. The store never has one in plain text.
type Credentials interface {
	PutCredential(ctx context.Context, c Credential) error
	Credential(ctx context.Context, connectionID string) (Credential, error)
	// RejectCredential records that the provider rejected the credential captured at capturedAt. It returns
	// ErrNotFound, and changes nothing, when that credential was removed, replaced or revoked since.
	RejectCredential(ctx context.Context, connectionID, reason string, capturedAt, now time.Time) error
	// RotateCredential stores the secret that the provider issued in exchange, and clears a rejection. It returns
	// ErrNotFound when the credential with that capture time was removed, replaced or revoked since.
	RotateCredential(ctx context.Context, c Credential) error
	DeleteCredential(ctx context.Context, connectionID string) error
}

// CredentialStatus is whether a credential is usable.
type CredentialStatus string

const (
	CredentialActive   CredentialStatus = "active"
	CredentialRevoked  CredentialStatus = "revoked"
	CredentialRejected CredentialStatus = "rejected"
)

// Credential is a sealed secret and its state.
type Credential struct {
	ConnectionID    string
	Kind            string
	Sealed          []byte
	Fingerprint     string
	Status          CredentialStatus
	CapturedAt      time.Time
	RejectedAt      *time.Time
	RejectionReason string
	// Generation increases with every refresh and every new capture.
	Generation int64
	Refresh    Refresh
}
