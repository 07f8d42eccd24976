package evidence

import (
	"slices"
	"time"
)

// Schedule is the connection's own rhythm.
type Schedule struct {
	Enabled         bool      `json:"enabled"`
	IntervalSeconds int64     `json:"interval_seconds"`
	JitterSeconds   int64     `json:"jitter_seconds"` // at most so much later; 0 is none
	UpdatedAt       time.Time `json:"updated_at"`
}

// Backoff is the scheduler's decision to wait before it tries again.
type Backoff struct {
	Class         string     `json:"reason_class"` // failure:network, terminal:…, source_pressure, ...
	Failures      int        `json:"consecutive_failures"`
	ObservedAt    time.Time  `json:"observed_at"`
	NextAttemptAt *time.Time `json:"next_attempt_at"`
}

// Credential is the standing of a stored credential, never the credential.
type Credential struct {
	Status     string     `json:"status"`
	CapturedAt time.Time  `json:"captured_at"`
	RejectedAt *time.Time `json:"rejected_at"`
	Reason     string     `json:"rejection_reason,omitempty"`
}

// The standings of a credential.
const (
	CredentialActive   = "active"
	CredentialRejected = "rejected"
	CredentialRevoked  = "revoked"
)

// Dimension is a thing that a run needs to be ready.
type Dimension string

const (
	ProbeCredentials   Dimension = "credentials"
	ProbeRuntime       Dimension = "runtime"        // a binding of the runtime: browser, network, ...
	ProbeTool          Dimension = "external_tool"  // a program that the connector calls
	ProbeRemoteSurface Dimension = "remote_surface" // a browser kept elsewhere
)

// Probe is one look at one dimension.
type Probe struct {
	Dimension Dimension   `json:"dimension"`
	Name      string      `json:"name,omitempty"` // which binding, which tool
	Status    ProbeStatus `json:"status"`
	Reason    string      `json:"reason,omitempty"`
	At        time.Time   `json:"at"`
	ExpiresAt *time.Time  `json:"expires_at"`
}

// ReasonCredentialRequired is the reason of a look that found no credential where
// one is needed.
const ReasonCredentialRequired = "credential_required"

// ProbeStatus is what a probe found. Idle, leased and waiting are for surfaces.
type ProbeStatus string

const (
	ProbeOK      ProbeStatus = "ok"
	ProbeFailed  ProbeStatus = "failed"
	ProbeUnknown ProbeStatus = "unknown"
	ProbeIdle    ProbeStatus = "idle"
	ProbeLeased  ProbeStatus = "leased"
	ProbeWaiting ProbeStatus = "waiting"
)

// Attention is a question put to the owner.
type Attention struct {
	ID          string     `json:"attention_id"`
	RunID       string     `json:"run_id,omitempty"`
	Reason      string     `json:"reason_code"` // credentials_required, otp_required, manual_action_required
	Lifecycle   Lifecycle  `json:"lifecycle"`
	Sensitivity string     `json:"sensitivity,omitempty"` // none, non_secret or secret
	Target      string     `json:"action_target,omitempty"`
	OpenedAt    time.Time  `json:"opened_at"`
	ExpiresAt   *time.Time `json:"expires_at"`
}

// Lifecycle is where a question stands.
type Lifecycle string

const (
	AttentionOpen         Lifecycle = "open"
	AttentionAcknowledged Lifecycle = "acknowledged"
	AttentionInProgress   Lifecycle = "in_progress"
	AttentionResolved     Lifecycle = "resolved"
	AttentionExpired      Lifecycle = "expired"
	AttentionCancelled    Lifecycle = "cancelled"
	AttentionSuperseded   Lifecycle = "superseded"
)

// Waiting reports whether the question still waits for the owner.
func (l Lifecycle) Waiting() bool {
	return slices.Contains([]Lifecycle{AttentionOpen, AttentionAcknowledged, AttentionInProgress}, l)
}
