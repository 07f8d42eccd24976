package health

import "time"

// ConditionType is what a condition is about.
type ConditionType string

const (
	ProjectionReliable     ConditionType = "ProjectionReliable"
	ScheduleEligible       ConditionType = "ScheduleEligible"
	RetryPolicyClear       ConditionType = "RetryPolicyClear"
	AttentionClear         ConditionType = "AttentionClear"
	CollectionSucceeded    ConditionType = "CollectionSucceeded"
	CredentialsValid       ConditionType = "CredentialsValid"
	CredentialContinuity   ConditionType = "CredentialContinuity"
	RuntimeAvailable       ConditionType = "RuntimeAvailable"
	RemoteSurfaceAvailable ConditionType = "RemoteSurfaceAvailable"
	LocalExporterAvailable ConditionType = "LocalExporterAvailable"
	BacklogClear           ConditionType = "BacklogClear"
	SourceCoverageComplete ConditionType = "SourceCoverageComplete"
	FreshCondition         ConditionType = "Fresh"
)

// ConditionTypes lists them all, in the order in which conditions are given.
var ConditionTypes = [...]ConditionType{
	ProjectionReliable, ScheduleEligible, RetryPolicyClear, AttentionClear, CollectionSucceeded,
	CredentialsValid, CredentialContinuity, RuntimeAvailable, RemoteSurfaceAvailable,
	LocalExporterAvailable, BacklogClear, SourceCoverageComplete, FreshCondition,
}

// Status is what is known of a condition. Not applicable is not a fault and not
// a lack of knowledge: the connection has no such part.
type Status string

const (
	True          Status = "true"
	False         Status = "false"
	StatusUnknown Status = "unknown"
	NotApplicable Status = "not_applicable"
)

// Severity is how much a condition that does not hold matters.
type Severity string

const (
	Info            Severity = "info"
	Warning         Severity = "warning"
	Error           Severity = "error"
	BlockedSeverity Severity = "blocked"
)

// Origin is where the evidence of a condition comes from.
type Origin string

const (
	OriginConnector     Origin = "connector"
	OriginLocalDevice   Origin = "local_device"
	OriginOperator      Origin = "operator"
	OriginReadModel     Origin = "read_model"
	OriginReadiness     Origin = "readiness"
	OriginRemoteSurface Origin = "remote_surface"
	OriginRuntime       Origin = "runtime"
	OriginScheduler     Origin = "scheduler"
)

// Sensitivity says who may see a condition's text and whether something was
// taken out of it.
type Sensitivity string

const (
	SensitivityOwner    Sensitivity = "owner"
	SensitivityPublic   Sensitivity = "public"
	SensitivityRedacted Sensitivity = "secret_redacted"
)

// RemedyAction is what would make a condition hold.
type RemedyAction string

const (
	CheckRuntime       RemedyAction = "check_runtime"
	ClearBacklog       RemedyAction = "clear_backlog"
	RefreshCredentials RemedyAction = "refresh_credentials"
	RetryByRuntime     RemedyAction = "retry_by_runtime"
	SatisfyAttention   RemedyAction = "satisfy_attention"
	UpdateConnector    RemedyAction = "update_connector"
	Wait               RemedyAction = "wait"
)

// Remediation is what would make a condition hold, in words and as a name.
type Remediation struct {
	Action    RemedyAction `json:"action"`
	Label     string       `json:"label"`
	Retryable bool         `json:"retryable"`
	Target    Text         `json:"target"`
}

// Kind is what all conditions of one row of the table share. It is never changed.
type Kind struct {
	ID          string        `json:"id"` // type and reason
	Type        ConditionType `json:"type"`
	Status      Status        `json:"status"`
	Severity    Severity      `json:"severity"`
	Reason      string        `json:"reason"`
	ReasonCode  Text          `json:"reason_code"`
	Message     string        `json:"message"`
	Origin      Origin        `json:"origin"`
	Remediation *Remediation  `json:"remediation"`
}

// Condition is one typed statement about a connection. One without a kind says
// nothing.
type Condition struct {
	*Kind
	ObservedAt *time.Time `json:"observed_at"`
	ExpiresAt  *time.Time `json:"expires_at"`
	// Current is false for evidence that expired or that newer evidence
	// replaced. Such a condition is shown and decides nothing.
	Current     bool        `json:"current"`
	Sensitivity Sensitivity `json:"sensitivity"`
	// Streams are those that a coverage condition is about.
	Streams []string `json:"streams,omitempty"`
}

// Fails reports whether the condition currently does not hold.
func (c *Condition) Fails() bool { return c.Kind != nil && c.Current && c.Status == False }

// Holds reports whether the condition currently holds.
func (c *Condition) Holds() bool { return c.Kind != nil && c.Current && c.Status == True }

// ReasonNoDevice is that of a connection which devices fed, and none does any more.
const ReasonNoDevice = "local_device_missing"

// The reasons of a sign-in that ends and cannot be extended: some time before it, and in its last days.
const (
	ReasonCredentialEnding   = "credential_ending"
	ReasonCredentialLastDays = "credential_last_days"
)

// ReasonDeviceDoubled is that of a connection whose device's access two installations use
// in turn: one of them was copied, or is somebody else's.
const ReasonDeviceDoubled = "local_device_doubled"
