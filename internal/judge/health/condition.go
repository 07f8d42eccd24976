package health

import "time"

// ConditionType is the subject of a condition.
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

// ConditionTypes lists all types in the order in which conditions are returned.
var ConditionTypes = [...]ConditionType{
	ProjectionReliable, ScheduleEligible, RetryPolicyClear, AttentionClear, CollectionSucceeded,
	CredentialsValid, CredentialContinuity, RuntimeAvailable, RemoteSurfaceAvailable,
	LocalExporterAvailable, BacklogClear, SourceCoverageComplete, FreshCondition,
}

// Status is whether a condition holds. NotApplicable means that the connection has no such part; it is neither a
// fault nor missing knowledge.
type Status string

const (
	True          Status = "true"
	False         Status = "false"
	StatusUnknown Status = "unknown"
	NotApplicable Status = "not_applicable"
)

// Severity is how much a failing condition matters.
type Severity string

const (
	Info            Severity = "info"
	Warning         Severity = "warning"
	Error           Severity = "error"
	BlockedSeverity Severity = "blocked"
)

// Origin is the source of a condition's evidence.
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

// Sensitivity states who may see a condition's text and whether it was redacted.
type Sensitivity string

const (
	SensitivityOwner    Sensitivity = "owner"
	SensitivityPublic   Sensitivity = "public"
	SensitivityRedacted Sensitivity = "secret_redacted"
)

// RemedyAction is the action that makes a condition hold.
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

// Remediation is the action that makes a condition hold, with its label.
type Remediation struct {
	Action    RemedyAction `json:"action"`
	Label     string       `json:"label"`
	Retryable bool         `json:"retryable"`
	Target    Text         `json:"target"`
}

// ConditionKind holds what all conditions of one table row share. It is immutable.
type ConditionKind struct {
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

// Condition is one typed statement about a connection. A Condition without a kind is empty.
type Condition struct {
	*ConditionKind
	ObservedAt *time.Time `json:"observed_at"`
	ExpiresAt  *time.Time `json:"expires_at"`
	// Current is false for evidence that expired or was replaced. Such a condition is shown but decides nothing.
	Current     bool        `json:"current"`
	Sensitivity Sensitivity `json:"sensitivity"`
	// Streams are the streams of a coverage condition.
	Streams []string `json:"streams,omitempty"`
}

// Fails reports whether the condition currently does not hold.
func (c *Condition) Fails() bool { return c.ConditionKind != nil && c.Current && c.Status == False }

// Holds reports whether the condition currently holds.
func (c *Condition) Holds() bool { return c.ConditionKind != nil && c.Current && c.Status == True }

// ReasonNoDevice means that devices fed the connection and none does any more.
const ReasonNoDevice = "local_device_missing"

// Reasons for a sign-in that ends and cannot be extended: weeks before its end, and in its last days.
const (
	ReasonCredentialEnding   = "credential_ending"
	ReasonCredentialLastDays = "credential_last_days"
)

// ReasonDeviceDoubled means that two installations use one device's access in turn: one of them is a copy.
const ReasonDeviceDoubled = "local_device_doubled"
