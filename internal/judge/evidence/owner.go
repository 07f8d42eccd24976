package evidence

import (
	"slices"
	"strings"
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
	// EndsAt is when it ends for good; nil when it can be extended, or nobody knows.
	EndsAt *time.Time `json:"ends_at,omitempty"`
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
	ProbeInterpreter   Dimension = "interpreter"    // the program that starts the connector's
	ProbeVariable      Dimension = "variable"       // a required variable that is no credential
	ProbeFiles         Dimension = "files"          // what the connector reads, by the variable that names it
	ProbeConfirmation  Dimension = "confirmation"   // the owner's word for a foreign connector as it is now
	ProbeConnector     Dimension = "connector"      // the files of a foreign connector
	ProbeRemoteSurface Dimension = "remote_surface" // a browser kept elsewhere
	ProbeProgram       Dimension = "program"        // what the connector's program loads or opens on its own
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

// The reasons of a run that was not started, and of a look, that lack what the owner
// provides. The message of the run begins with its name. Nobody has said where the files
// are is the reason of a look alone.
const (
	ReasonInterpreterMissing = "interpreter_missing"
	ReasonVariableUnset      = "variable_unset"
	ReasonFilesMissing       = "files_missing"
	ReasonFilesUnnamed       = "files_unnamed"
	ReasonUnconfirmed        = "connector_unconfirmed"
	ReasonUnusable           = "connector_unusable"
)

// The reasons of a run in which the program ended over something that it could not load or open. The
// message of the run begins with its name. No check can show that it is there: the next run does.
const (
	ReasonModuleMissing = "module_missing"
	ReasonPathMissing   = "path_missing"
)

// IsNotSet follows the name of a variable that has no value.
const IsNotSet = "is not set"

// provided are the dimensions of what the owner provides, by the reason of its lack.
var provided = map[string]Dimension{
	ReasonInterpreterMissing: ProbeInterpreter, ReasonVariableUnset: ProbeVariable, ReasonFilesMissing: ProbeFiles,
	ReasonUnconfirmed: ProbeConfirmation, ReasonUnusable: ProbeConnector,
}

// LackReason is why a run, or a look, fails without what the owner provides; empty for another
// dimension.
func LackReason(d Dimension) string {
	for reason, of := range provided {
		if of == d {
			return reason
		}
	}
	return ""
}

// Lacked is a look at what the owner provides and the run did not have, as far as it tells;
// nil when it failed otherwise.
func (r *Run) Lacked() *Probe {
	if r.Failure == nil {
		return nil
	}
	name, what, _ := strings.Cut(r.Failure.Message, " ")
	if reason := r.Failure.Reason; reason == ReasonModuleMissing || reason == ReasonPathMissing {
		return &Probe{Dimension: ProbeProgram, Name: name, Status: ProbeFailed, Reason: reason, At: r.EndedAt}
	}
	if provided[r.Failure.Reason] == "" {
		return nil
	}
	p := &Probe{Dimension: provided[r.Failure.Reason], Name: name, Status: ProbeFailed, Reason: r.Failure.Reason, At: r.EndedAt}
	if p.Dimension == ProbeFiles && strings.HasPrefix(what, IsNotSet) {
		p.Reason = ReasonFilesUnnamed
	}
	return p
}

// LackedFor reports whether the run ended for want of what the look is about: the binding that
// its message ends with, or what the owner provides.
func (r *Run) LackedFor(p *Probe) bool {
	if lacked := r.Lacked(); lacked != nil {
		return lacked.Dimension == p.Dimension && lacked.Name == p.Name
	}
	return r.Failure != nil && r.Failure.Reason == "runtime_binding_missing" && p.Dimension == ProbeRuntime && p.Name != "" &&
		strings.HasSuffix(r.Failure.Message, " "+p.Name)
}

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
