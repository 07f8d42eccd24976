package evidence

import (
	"slices"
	"strings"
	"time"
)

// Schedule is when runs of the connection start without the owner.
type Schedule struct {
	Enabled         bool      `json:"enabled"`
	IntervalSeconds int64     `json:"interval_seconds"`
	JitterSeconds   int64     `json:"jitter_seconds"` // upper bound of the random delay; 0 for none
	UpdatedAt       time.Time `json:"updated_at"`
}

// Backoff is the scheduler's decision to wait before the next attempt.
type Backoff struct {
	Class         string     `json:"reason_class"` // failure:network, terminal:…, source_pressure, ...
	Failures      int        `json:"consecutive_failures"`
	ObservedAt    time.Time  `json:"observed_at"`
	NextAttemptAt *time.Time `json:"next_attempt_at"`
}

// Credential is the status of a stored credential, never the secret itself.
type Credential struct {
	Status     string     `json:"status"`
	CapturedAt time.Time  `json:"captured_at"`
	RejectedAt *time.Time `json:"rejected_at"`
	Reason     string     `json:"rejection_reason,omitempty"`
	// EndsAt is when the credential ends for good; nil when it can be extended or the end is unknown.
	EndsAt *time.Time `json:"ends_at,omitempty"`
}

// The states of a credential.
const (
	CredentialActive   = "active"
	CredentialRejected = "rejected"
	CredentialRevoked  = "revoked"
)

// Dimension is one thing that a run needs.
type Dimension string

const (
	ProbeCredentials Dimension = "credentials"
	ProbeRuntime     Dimension = "runtime"       // a binding of the runtime: browser, network, ...
	ProbeTool        Dimension = "external_tool" // a program that the connector calls
	ProbeInterpreter Dimension = "interpreter"   // the program that starts the connector's
	ProbeVariable    Dimension = "variable"      // a required variable that is not a credential
	ProbeFiles       Dimension = "files"         // the files to read; Name is the variable that holds their path
	// the owner's confirmation of a foreign connector in its current version
	ProbeConfirmation  Dimension = "confirmation"
	ProbeConnector     Dimension = "connector"      // the files of a foreign connector
	ProbeRemoteSurface Dimension = "remote_surface" // a browser on another host
	ProbeProgram       Dimension = "program"        // what the connector's program loads or opens itself
)

// Probe is the result of one check of one dimension.
type Probe struct {
	Dimension Dimension   `json:"dimension"`
	Name      string      `json:"name,omitempty"` // which binding, which tool
	Status    ProbeStatus `json:"status"`
	Reason    string      `json:"reason,omitempty"`
	At        time.Time   `json:"at"`
	ExpiresAt *time.Time  `json:"expires_at"`
}

// ReasonCredentialRequired is the reason of a probe that found no credential where one is needed.
const ReasonCredentialRequired = "credential_required"

// Reasons of a run that did not start, and of a probe, because something is missing that the owner provides. The
// run's message begins with its name. Only probes have ReasonFilesUnnamed: no path to the files is set.
const (
	ReasonInterpreterMissing = "interpreter_missing"
	ReasonVariableUnset      = "variable_unset"
	ReasonFilesMissing       = "files_missing"
	ReasonFilesUnnamed       = "files_unnamed"
	ReasonUnconfirmed        = "connector_unconfirmed"
	ReasonUnusable           = "connector_unusable"
)

// Reasons of a run in which the program failed to load or open something. The run's message begins with its name. No
// probe can check it: only the next run can.
const (
	ReasonModuleMissing = "module_missing"
	ReasonPathMissing   = "path_missing"
)

// IsNotSet follows the name of a variable without a value in a run's message.
const IsNotSet = "is not set"

// ownerProvided maps the reason of a missing prerequisite to its dimension.
var ownerProvided = map[string]Dimension{
	ReasonInterpreterMissing: ProbeInterpreter, ReasonVariableUnset: ProbeVariable, ReasonFilesMissing: ProbeFiles,
	ReasonUnconfirmed: ProbeConfirmation, ReasonUnusable: ProbeConnector,
}

// MissingReason returns the reason of a run or probe that lacks the dimension; empty for a dimension that the owner
// does not provide.
func MissingReason(d Dimension) string {
	for reason, of := range ownerProvided {
		if of == d {
			return reason
		}
	}
	return ""
}

// MissingPrerequisite returns a failed probe of what the owner provides and the run lacked; nil when the run failed
// for another reason.
func (r *Run) MissingPrerequisite() *Probe {
	if r.Failure == nil {
		return nil
	}
	name, what, _ := strings.Cut(r.Failure.Message, " ")
	if reason := r.Failure.Reason; reason == ReasonModuleMissing || reason == ReasonPathMissing {
		return &Probe{Dimension: ProbeProgram, Name: name, Status: ProbeFailed, Reason: reason, At: r.EndedAt}
	}
	if ownerProvided[r.Failure.Reason] == "" {
		return nil
	}
	p := &Probe{Dimension: ownerProvided[r.Failure.Reason], Name: name, Status: ProbeFailed, Reason: r.Failure.Reason,
		At: r.EndedAt}
	if p.Dimension == ProbeFiles && strings.HasPrefix(what, IsNotSet) {
		p.Reason = ReasonFilesUnnamed
	}
	return p
}

// FailedWithout reports whether the run ended because it lacked what the probe checks: something that the owner
// provides, or the binding at the end of the run's message.
func (r *Run) FailedWithout(p *Probe) bool {
	if lacked := r.MissingPrerequisite(); lacked != nil {
		return lacked.Dimension == p.Dimension && lacked.Name == p.Name
	}
	return r.Failure != nil && r.Failure.Reason == "runtime_binding_missing" && p.Dimension == ProbeRuntime &&
		p.Name != "" &&
		strings.HasSuffix(r.Failure.Message, " "+p.Name)
}

// ProbeStatus is the result of a probe. Idle, leased and waiting apply to remote surfaces.
type ProbeStatus string

const (
	ProbeOK      ProbeStatus = "ok"
	ProbeFailed  ProbeStatus = "failed"
	ProbeUnknown ProbeStatus = "unknown"
	ProbeIdle    ProbeStatus = "idle"
	ProbeLeased  ProbeStatus = "leased"
	ProbeWaiting ProbeStatus = "waiting"
)

// Attention is a question to the owner.
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

// Lifecycle is the state of a question.
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
