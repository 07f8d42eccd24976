package protocol

import "slices"

// MessageType is the value of a message's "type" member.
type MessageType string

const (
	TypeRecord                 MessageType = "RECORD"
	TypeState                  MessageType = "STATE"
	TypeProgress               MessageType = "PROGRESS"
	TypeInteraction            MessageType = "INTERACTION"
	TypeSkipResult             MessageType = "SKIP_RESULT"
	TypeDetailGap              MessageType = "DETAIL_GAP"
	TypeDetailCoverage         MessageType = "DETAIL_COVERAGE"
	TypeDetailGapsPageRequest  MessageType = "DETAIL_GAPS_PAGE_REQUEST"
	TypeDetailGapAttempted     MessageType = "DETAIL_GAP_ATTEMPTED"
	TypeDetailGapRecovered     MessageType = "DETAIL_GAP_RECOVERED"
	TypeAssistance             MessageType = "ASSISTANCE"
	TypeAssistanceStatus       MessageType = "ASSISTANCE_STATUS"
	TypeCredentialRequest      MessageType = "CREDENTIAL_REQUEST"
	TypeAllowance              MessageType = "ALLOWANCE"
	TypeWalk                   MessageType = "WALK"
	TypeDone                   MessageType = "DONE"
	TypeStart                  MessageType = "START"
	TypeInteractionResponse    MessageType = "INTERACTION_RESPONSE"
	TypeDetailGapsPageResponse MessageType = "DETAIL_GAPS_PAGE_RESPONSE"
	TypeCredentialResponse     MessageType = "CREDENTIAL_RESPONSE"
	TypeAllowanceShare         MessageType = "ALLOWANCE_SHARE"
	TypeWalkMissing            MessageType = "WALK_MISSING"
)

// ConnectorTypes are the messages a connector sends, RunnerTypes those it receives.
var (
	ConnectorTypes = []MessageType{
		TypeRecord, TypeState, TypeProgress, TypeInteraction, TypeSkipResult, TypeDetailGap,
		TypeDetailCoverage, TypeDetailGapsPageRequest, TypeDetailGapAttempted,
		TypeDetailGapRecovered, TypeAssistance, TypeAssistanceStatus, TypeCredentialRequest, TypeAllowance, TypeWalk,
		TypeDone,
	}
	RunnerTypes = []MessageType{TypeStart, TypeInteractionResponse, TypeDetailGapsPageResponse, TypeCredentialResponse,
		TypeAllowanceShare, TypeWalkMissing}
)

// Op is the operation of a RECORD on its key. "upsert" and an absent op are the same.
type Op string

const (
	OpUpsert Op = ""
	OpDelete Op = "delete"
)

// CollectionMode is whether a run starts from its cursors or from the beginning.
type CollectionMode string

const (
	FullRefresh CollectionMode = "full_refresh"
	Incremental CollectionMode = "incremental"
)

var CollectionModes = []CollectionMode{FullRefresh, Incremental}

// CursorMode separates the cursor of a historical catch-up from the steady-state cursor, so that neither can
// corrupt the other (PB-10).
type CursorMode string

const (
	SteadyState CursorMode = ""
	CatchUp     CursorMode = "catch_up"
)

var CursorModes = []CursorMode{SteadyState, CatchUp}

// DoneStatus is the result of a run, as reported by the connector.
type DoneStatus string

const (
	DoneSucceeded DoneStatus = "succeeded"
	DoneFailed    DoneStatus = "failed"
	DoneCancelled DoneStatus = "cancelled"
)

var DoneStatuses = []DoneStatus{DoneSucceeded, DoneFailed, DoneCancelled}

// InteractionKind is what a connector requests from the owner.
type InteractionKind string

const (
	AskCredentials        InteractionKind = "credentials"
	AskOTP                InteractionKind = "otp"
	AskManualAction       InteractionKind = "manual_action"
	AskMissingCredentials InteractionKind = "missing_credentials"
)

var InteractionKinds = []InteractionKind{AskCredentials, AskOTP, AskManualAction, AskMissingCredentials}

// Secret reports whether the owner's answer is a secret.
func (k InteractionKind) Secret() bool { return k != AskManualAction }

// ResponseStatus is how an interaction ended.
type ResponseStatus string

const (
	ResponseSuccess   ResponseStatus = "success"
	ResponseCancelled ResponseStatus = "cancelled"
	ResponseTimeout   ResponseStatus = "timeout"
)

var ResponseStatuses = []ResponseStatus{ResponseSuccess, ResponseCancelled, ResponseTimeout}

// RecoveryAction is what would make a skipped or failed part collectable again.
type RecoveryAction string

const (
	RetryByRuntime          RecoveryAction = "retry_by_runtime"
	RetryOnConnectorUpgrade RecoveryAction = "retry_on_connector_upgrade"
	RefreshCredentials      RecoveryAction = "refresh_credentials"
	ManualActionRequired    RecoveryAction = "manual_action_required"
	UpdateSelector          RecoveryAction = "update_selector"
	UpstreamUnblock         RecoveryAction = "upstream_unblock"
	NotRetriable            RecoveryAction = "not_retriable"
	UnknownRecovery         RecoveryAction = "unknown"
)

var RecoveryActions = []RecoveryAction{
	RetryByRuntime, RetryOnConnectorUpgrade, RefreshCredentials, ManualActionRequired,
	UpdateSelector, UpstreamUnblock, NotRetriable, UnknownRecovery,
}

// Values of ASSISTANCE, the non-blocking request for the owner's help.
type (
	ProgressPosture    string
	OwnerAction        string
	Sensitivity        string
	AttachmentKind     string
	AssistanceOutcome  string
	CircuitState       string
	CircuitReason      string
	CircuitTrigger     string
	RateBackoffReason  string
	WaitReason         string
	GapStatus          string
	KnownGapKind       string
	KnownGapSeverity   string
	ConnectorErrorCode string
)

var (
	ProgressPostures   = []ProgressPosture{"running", "blocked", "waiting_retry"}
	OwnerActions       = []OwnerAction{"none", "act_elsewhere", "provide_value", "operate_attachment"}
	Sensitivities      = []Sensitivity{"none", "non_secret", "secret"}
	AttachmentKinds    = []AttachmentKind{"browser_surface", "url", "qr", "file", "fixture"}
	AssistanceOutcomes = []AssistanceOutcome{"resolved", "cancelled", "timed_out", "escalated"}
	CircuitStates      = []CircuitState{"closed", "half_open", "open"}
	CircuitReasons     = []CircuitReason{"provider_failure", "provider_throttle", "reset_timeout", "success"}
	CircuitTriggers    = []CircuitTrigger{"before_request", "provider_failure", "provider_throttle", "success"}
	RateBackoffReasons = []RateBackoffReason{"retry_after", "throttle"}
)

// Why no request is sent to a provider: it asked for the wait, or the governor chose it.
const (
	WaitRetryAfter WaitReason = "retry_after"
	WaitSearched   WaitReason = "searched"
)

var WaitReasons = []WaitReason{WaitRetryAfter, WaitSearched}

const (
	GapPending    GapStatus = "pending"
	GapInProgress GapStatus = "in_progress"
	GapRecovered  GapStatus = "recovered"
	GapTerminal   GapStatus = "terminal"
)

var GapStatuses = []GapStatus{GapPending, GapInProgress, GapRecovered, GapTerminal}

const (
	KnownSkipResult       KnownGapKind = "skip_result"
	KnownDetailGap        KnownGapKind = "detail_gap"
	KnownDetailCoverage   KnownGapKind = "detail_coverage"
	KnownInteraction      KnownGapKind = "interaction_required"
	KnownRunFailed        KnownGapKind = "run_failed"
	KnownCheckpointCommit KnownGapKind = "checkpoint_commit"
)

var KnownGapKinds = []KnownGapKind{
	KnownSkipResult, KnownDetailGap, KnownDetailCoverage, KnownInteraction, KnownRunFailed, KnownCheckpointCommit,
}

const (
	SeverityActionable    KnownGapSeverity = "actionable"
	SeverityInformational KnownGapSeverity = "informational"
	SeverityRecoverable   KnownGapSeverity = "recoverable"
	SeverityTransient     KnownGapSeverity = "transient"
)

var KnownGapSeverities = []KnownGapSeverity{
	SeverityActionable, SeverityInformational, SeverityRecoverable, SeverityTransient,
}

// StreamCollectionFailed is the DONE error code, and the SKIP_RESULT reason, of a failure that affects only the
// named streams.
const StreamCollectionFailed = "stream_collection_failed"

// ScopeNotSupported is the SKIP_RESULT reason for a scope constraint that the connector does not support.
const ScopeNotSupported = "scope_not_supported"

func oneOf[T ~string](v T, list []T) bool { return slices.Contains(list, v) }

// CredentialReason is the reason of a CredentialRequest.
type CredentialReason string

const (
	// CredentialRotated means that the provider exchanged the credential for another one.
	CredentialRotated CredentialReason = "rotated"
	// CredentialExpired means that the provider refuses the credential of this run.
	CredentialExpired CredentialReason = "expired"
)

// CredentialReasons lists every CredentialReason.
var CredentialReasons = []CredentialReason{CredentialRotated, CredentialExpired}

// CredentialOutcome is the result of a CredentialRequest.
type CredentialOutcome string

// Results of storing a rotated credential.
const (
	CredentialStored    CredentialOutcome = "stored"
	CredentialNotStored CredentialOutcome = "not_stored"
	// CredentialRenewed comes with fresh values. After CredentialNotRenewed only the run's credential is
	// available.
	CredentialRenewed    CredentialOutcome = "renewed"
	CredentialNotRenewed CredentialOutcome = "not_renewed"
)

// CredentialOutcomes lists every CredentialOutcome.
var CredentialOutcomes = []CredentialOutcome{
	CredentialStored,
	CredentialNotStored,
	CredentialRenewed,
	CredentialNotRenewed,
}
