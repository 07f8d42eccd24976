package store

import (
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/protocol"
)

// ConnectionStatus is the owner's intent for a connection.
type ConnectionStatus string

const (
	ConnectionActive  ConnectionStatus = "active"
	ConnectionPaused  ConnectionStatus = "paused"
	ConnectionRevoked ConnectionStatus = "revoked"
	ConnectionDraft   ConnectionStatus = "draft"
)

// SourceKind is where a connection's data comes from.
type SourceKind string

const (
	SourceAccount     SourceKind = "account"
	SourceLocalDevice SourceKind = "local_device"
	SourceBrowser     SourceKind = "browser_collector"
	SourceManual      SourceKind = "manual"
)

// Connection is one configured source of the owner.
type Connection struct {
	ID          string           `json:"connection_id"`
	ConnectorID string           `json:"connector_id"`
	DisplayName string           `json:"display_name"`
	Status      ConnectionStatus `json:"status"`
	SourceKind  SourceKind       `json:"source_kind"`
	Binding     jsontext.Value   `json:"source_binding,omitzero"`
	// LocalBinding tells the connections of one connector apart that devices feed; empty for
	// one that is collected here.
	LocalBinding       string    `json:"local_binding,omitzero"`
	ManifestGeneration int64     `json:"manifest_generation"`
	CreatedAt          time.Time `json:"created_at"`
	UpdatedAt          time.Time `json:"updated_at"`
}

// Interactions are questions to the owner. No answer is stored that anybody but
// the run that asked can read, and that one only until the question is closed.
type Interactions interface {
	OpenInteraction(ctx context.Context, l Lease, i Interaction, now time.Time) error
	// CloseInteraction records how it ended, and forgets key, sealed answer and page ticket.
	// ErrNotFound when it is not open.
	CloseInteraction(ctx context.Context, l Lease, requestID string, status protocol.ResponseStatus, now time.Time) error
	// OpenInteractions lists what waits for the owner; an empty id means every connection.
	OpenInteractions(ctx context.Context, connectionID string) ([]Interaction, error)

	// AnswerInteraction leaves an answer, sealed to the question's key, for the
	// run that asked. ErrNotFound when the question is not open, has no key or its
	// run's lease ran out; ErrExists when it has an answer already.
	AnswerInteraction(ctx context.Context, runID, requestID string, sealed []byte, now time.Time) error
	// SealedAnswer gives the answer that waits; ErrNotFound when none does.
	SealedAnswer(ctx context.Context, runID, requestID string) ([]byte, error)

	// PutPageTicket lets whoever shows the secret of this digest bring the page of an open
	// question, once and before until. One of before is good no more. ErrNotFound when the
	// question is not open or its run's lease ran out.
	PutPageTicket(ctx context.Context, runID, requestID string, digest []byte, until, now time.Time) error
	// TakePageTicket uses it up. ErrNotFound when there is no such ticket, it is late, the
	// question is not open or its run's lease ran out.
	TakePageTicket(ctx context.Context, runID, requestID string, digest []byte, now time.Time) error
}

// Interaction is one question and, once closed, how it ended.
type Interaction struct {
	RequestID    string                   `json:"request_id"`
	RunID        string                   `json:"run_id"`
	ConnectionID string                   `json:"connection_id"`
	Kind         protocol.InteractionKind `json:"kind"`
	Message      string                   `json:"message"`
	Schema       jsontext.Value           `json:"schema,omitzero"`
	Stream       string                   `json:"stream,omitzero"`
	// Key is what an answer is sealed to; empty when the question can be answered
	// only where it was asked.
	Key []byte `json:"-"`

	OpenedAt  time.Time               `json:"opened_at"`
	ExpiresAt *time.Time              `json:"expires_at"`
	ClosedAt  *time.Time              `json:"closed_at"`
	Status    protocol.ResponseStatus `json:"status,omitzero"`
}

// Schedules say when a connection collects by itself.
type Schedules interface {
	PutSchedule(ctx context.Context, s Schedule) error
	Schedule(ctx context.Context, connectionID string) (Schedule, error)
	ListSchedules(ctx context.Context) ([]Schedule, error)
	DeleteSchedule(ctx context.Context, connectionID string) error

	// PutBackoff replaces the connection's wait. ClearBackoff ends it, if there is one.
	PutBackoff(ctx context.Context, b Backoff) error
	ClearBackoff(ctx context.Context, connectionID string) error
}

// Schedule is one connection's rhythm.
type Schedule struct {
	ConnectionID    string    `json:"connection_id"`
	IntervalSeconds int64     `json:"interval_seconds"`
	JitterSeconds   int64     `json:"jitter_seconds"`
	Enabled         bool      `json:"enabled"`
	CreatedAt       time.Time `json:"created_at"`
	UpdatedAt       time.Time `json:"updated_at"`
}

// Backoff is the scheduler's decision to wait before it tries a connection again.
type Backoff struct {
	ConnectionID string
	evidence.Backoff
}

// Credentials are kept sealed; this package never sees one in the clear.
type Credentials interface {
	PutCredential(ctx context.Context, c Credential) error
	Credential(ctx context.Context, connectionID string) (Credential, error)
	// RejectCredential records that the provider refused the credential that was
	// captured at a moment. ErrNotFound when there is none such: it was taken
	// away, replaced or revoked meanwhile, and what is there now stays as it is.
	RejectCredential(ctx context.Context, connectionID, reason string, capturedAt, now time.Time) error
	// RotateCredential replaces the secret of a credential by the one that the provider
	// exchanged it for, and with it takes back that it was refused. ErrNotFound when the
	// credential of that moment of capture was taken away, replaced or revoked meanwhile.
	RotateCredential(ctx context.Context, c Credential) error
	DeleteCredential(ctx context.Context, connectionID string) error
}

// CredentialStatus is what is known of a credential.
type CredentialStatus string

const (
	CredentialActive   CredentialStatus = "active"
	CredentialRevoked  CredentialStatus = "revoked"
	CredentialRejected CredentialStatus = "rejected"
)

// Credential is a sealed secret and its standing.
type Credential struct {
	ConnectionID    string
	Kind            string
	Sealed          []byte
	Fingerprint     string
	Status          CredentialStatus
	CapturedAt      time.Time
	RejectedAt      *time.Time
	RejectionReason string
	// Generation rises with every refresh; a new capture goes on counting.
	Generation int64
	Refresh    Refresh
}
