package protocol

import "github.com/go-json-experiment/json/jsontext"

// Message is one line of the protocol. The set of implementations is closed.
type Message interface {
	Type() MessageType
	// check returns the first rule that the message violates, without context.
	check() *Violation
}

// Record is the data of one key or, with OpDelete, its tombstone. Data aliases the decoded line; Clone copies it.
type Record struct {
	Stream    string
	Key       string // canonical: a compound key is its minified JSON array
	Op        Op
	Data      jsontext.Value
	EmittedAt string
	// Blobs are the files of the record. Nil keeps the existing ones, an empty list removes them.
	Blobs []Blob
	// File is the path of the import file that contains the record, below the connector's import folder. It is
	// empty for a record from the source itself.
	File string

	fields []Field
}

// Field is one top-level member of a record's data, still encoded.
type Field struct {
	Name  string
	Value jsontext.Value
}

// Fields returns the top-level members of Data in their order. The decoder fills them in its only pass. They are
// valid as long as the decoded line.
func (r *Record) Fields() []Field { return r.fields }

// State is a checkpoint. For a slice-checkpoint stream it closes a slice; for a run-checkpoint stream it is
// staged until the run succeeds.
type State struct {
	Stream string         `json:"stream"`
	Cursor jsontext.Value `json:"cursor"`
	// Mode selects the cursor. Absent means the steady-state cursor.
	Mode CursorMode `json:"mode,omitzero"`
	// Accounted is the slice's own coverage if the stream anchors a detail lane. With it the slice can commit
	// before the lane's DETAIL_COVERAGE.
	Accounted *KeyCoverage `json:"accounted,omitzero"`
}

// KeyCoverage lists the outcome of every considered key.
type KeyCoverage struct {
	RequiredKeys     KeyList `json:"required_keys"`
	HydratedKeys     KeyList `json:"hydrated_keys"`
	GapKeys          KeyList `json:"gap_keys,omitempty"`
	OptionalSkipKeys KeyList `json:"optional_skip_keys,omitempty"`
}

// Progress is for display. Its structured members are evidence.
type Progress struct {
	Message        string          `json:"message"`
	Stream         string          `json:"stream,omitzero"`
	Count          *float64        `json:"count,omitzero"`
	Total          *float64        `json:"total,omitzero"`
	ProviderBudget *ProviderBudget `json:"provider_budget,omitzero"`
	CollectionRate *CollectionRate `json:"collection_rate,omitzero"`
	ProviderWait   *ProviderWait   `json:"provider_wait,omitzero"`
	AnswerDrift    *AnswerDrift    `json:"answer_drift,omitzero"` // of Stream

	AttachmentRecovery  jsontext.Value `json:"attachment_recovery_outcome,omitzero"`
	AttachmentHydration jsontext.Value `json:"attachment_hydration_failure_outcome,omitzero"`
}

// CollectionRate is the governor's current rate. It is absent if pacing is off.
type CollectionRate struct {
	Object              string       `json:"object"`
	CurrentIntervalMS   float64      `json:"current_interval_ms"`
	CeilingIntervalMS   float64      `json:"ceiling_interval_ms"`
	EffectiveRatePerMin float64      `json:"effective_rate_per_min"`
	CeilingRatePerMin   float64      `json:"ceiling_rate_per_min"`
	LastBackoff         *RateBackoff `json:"last_backoff"`
}

// RateBackoff is the governor's last slowdown.
type RateBackoff struct {
	AtIntervalMS float64           `json:"at_interval_ms"`
	Reason       RateBackoffReason `json:"reason"`
}

// ProviderWait reports, when a wait begins, how long no request is sent to a provider. It is a duration, so
// clocks need not agree.
type ProviderWait struct {
	Sender string     `json:"sender"` // name of the connector's sender, without routes or ids
	WaitMS float64    `json:"wait_ms"`
	Reason WaitReason `json:"reason"`
}

// ProviderBudget reports one transition of a circuit breaker, without routes, ids or bodies.
type ProviderBudget struct {
	Object       string         `json:"object"`
	Circuit      CircuitChange  `json:"circuit"`
	ElapsedMS    float64        `json:"elapsed_ms"`
	RequestCount float64        `json:"request_count"`
	RetryTokens  jsontext.Value `json:"retry_tokens_remaining,omitzero"`
}

// CircuitChange is a state change of a circuit breaker.
type CircuitChange struct {
	Previous CircuitState   `json:"previous_state"`
	State    CircuitState   `json:"state"`
	Reason   CircuitReason  `json:"reason"`
	Trigger  CircuitTrigger `json:"trigger"`
}

// Interaction blocks the run until the owner answers or declines, or until it expires.
type Interaction struct {
	RequestID      string          `json:"request_id"`
	Kind           InteractionKind `json:"kind"`
	Message        string          `json:"message"`
	Schema         jsontext.Value  `json:"schema,omitzero"`
	Stream         string          `json:"stream,omitzero"`
	TimeoutSeconds *float64        `json:"timeout_seconds,omitzero"`
}

// SkipResult declares that something was left out on purpose or because of a known error.
type SkipResult struct {
	Stream       string         `json:"stream,omitzero"`
	Reason       Reason         `json:"reason,omitzero"`
	Message      *string        `json:"message,omitzero"`
	Diagnostics  jsontext.Value `json:"diagnostics,omitzero"`
	RecoveryHint *RecoveryHint  `json:"recovery_hint,omitzero"`
	ResourceIDs  []string       `json:"resource_ids,omitempty"`
	Resources    []string       `json:"resources,omitempty"`
	TimeRange    *TimeRange     `json:"time_range,omitzero"`
	Continuation *Continuation  `json:"continuation,omitzero"`
}

// Continuation describes a bounded part of a larger piece of work.
type Continuation struct {
	Boundary   string `json:"boundary"`
	SliceStart int64  `json:"slice_start"`
	SliceEnd   int64  `json:"slice_end"`
	Considered int64  `json:"considered"`
	Covered    int64  `json:"covered"`
	Remaining  bool   `json:"remaining"`
	Owner      string `json:"owner"`
}

// DetailGap is a durable, resumable miss of one record's detail.
type DetailGap struct {
	Stream        string         `json:"stream"`
	ParentStream  string         `json:"parent_stream,omitzero"`
	RecordKey     WireKey        `json:"record_key,omitzero"`
	Reason        Reason         `json:"reason"`
	Retryable     bool           `json:"retryable"`
	DetailLocator jsontext.Value `json:"detail_locator,omitzero"`
	ListCursor    jsontext.Value `json:"list_cursor,omitzero"`
	LastError     jsontext.Value `json:"last_error,omitzero"`
	Detail        *GapDetail     `json:"detail,omitzero"`
	Status        GapStatus      `json:"status,omitzero"`
	ReferenceOnly bool           `json:"reference_only,omitzero"`
	GapID         string         `json:"gap_id,omitzero"`
	LeaseID       string         `json:"lease_id,omitzero"`
}

// GapDetail classifies the miss.
type GapDetail struct {
	Class           string `json:"class,omitzero"`
	HTTPStatus      int    `json:"http_status,omitzero"`
	NetworkPressure bool   `json:"network_pressure,omitzero"`
}

// DetailCoverage closes a list+detail lane with the outcome of every scanned key.
type DetailCoverage struct {
	Stream      string `json:"stream"`
	StateStream string `json:"state_stream"`
	KeyCoverage `json:",embed"`
	Considered  Count `json:"considered,omitzero"`
	Covered     Count `json:"covered,omitzero"`

	ReferenceOnly bool `json:"reference_only,omitzero"`
}

// DetailGapsPageRequest requests the next batch of gaps to recover. A page is a transport batch, not a limit:
// request pages until one is empty (PB-11).
type DetailGapsPageRequest struct {
	RequestID     string   `json:"request_id"`
	ReferenceOnly bool     `json:"reference_only,omitzero"`
	Streams       []string `json:"streams,omitempty"`
	MaxBytes      *int64   `json:"max_bytes,omitzero"`
}

// DetailGapAttempted uses up one attempt of a leased gap.
type DetailGapAttempted struct {
	GapID         string `json:"gap_id"`
	LeaseID       string `json:"lease_id"`
	Stream        string `json:"stream"`
	ReferenceOnly bool   `json:"reference_only,omitzero"`
}

// DetailGapRecovered closes a gap. Its records precede this message.
type DetailGapRecovered struct {
	GapID         string  `json:"gap_id"`
	Stream        string  `json:"stream"`
	LeaseID       string  `json:"lease_id,omitzero"`
	RecordKey     WireKey `json:"record_key,omitzero"`
	ReferenceOnly bool    `json:"reference_only,omitzero"`
}

// Assistance requests the owner's help without blocking the connector.
type Assistance struct {
	RequestID      string          `json:"assistance_request_id"`
	Posture        ProgressPosture `json:"progress_posture"`
	OwnerAction    OwnerAction     `json:"owner_action"`
	Response       string          `json:"response_contract"`
	Message        string          `json:"message"`
	Sensitivity    Sensitivity     `json:"sensitivity,omitzero"`
	TimeoutSeconds *float64        `json:"timeout_seconds,omitzero"`
	InputSchema    jsontext.Value  `json:"input_schema,omitzero"`
	Attachments    []Attachment    `json:"attachments,omitempty"`
}

// Attachment is something that the owner can view or operate.
type Attachment struct {
	Kind  AttachmentKind `json:"kind"`
	Extra jsontext.Value `json:",embed"` // its other members, as one object
}

// AssistanceStatus ends an assistance request.
type AssistanceStatus struct {
	RequestID string            `json:"assistance_request_id"`
	Status    AssistanceOutcome `json:"status"`
}

// CredentialRequest either returns a credential that the provider exchanged for the run's credential, to be
// stored before the reply, or reports that the provider rejects the run's credential and requests a fresh one.
// Values are never logged.
type CredentialRequest struct {
	RequestID string            `json:"request_id"`
	Reason    CredentialReason  `json:"reason"`
	Values    map[string]string `json:"values,omitempty"` // by variable; only with CredentialRotated
}

// Done ends the run. RecordsEmitted must equal what the runner counted.
type Done struct {
	Status         DoneStatus `json:"status"`
	RecordsEmitted int64      `json:"records_emitted"`
	Error          *DoneError `json:"error,omitzero"`
}

// DoneError is the connector's description of a failure.
type DoneError struct {
	Code         string        `json:"code,omitzero"`
	Message      string        `json:"message,omitzero"`
	Retryable    *bool         `json:"retryable,omitzero"`
	RecoveryHint *RecoveryHint `json:"recovery_hint,omitzero"`
}

func (*Record) Type() MessageType                { return TypeRecord }
func (*State) Type() MessageType                 { return TypeState }
func (*Progress) Type() MessageType              { return TypeProgress }
func (*Interaction) Type() MessageType           { return TypeInteraction }
func (*SkipResult) Type() MessageType            { return TypeSkipResult }
func (*DetailGap) Type() MessageType             { return TypeDetailGap }
func (*DetailCoverage) Type() MessageType        { return TypeDetailCoverage }
func (*DetailGapsPageRequest) Type() MessageType { return TypeDetailGapsPageRequest }
func (*DetailGapAttempted) Type() MessageType    { return TypeDetailGapAttempted }
func (*DetailGapRecovered) Type() MessageType    { return TypeDetailGapRecovered }
func (*Assistance) Type() MessageType            { return TypeAssistance }
func (*AssistanceStatus) Type() MessageType      { return TypeAssistanceStatus }
func (*CredentialRequest) Type() MessageType     { return TypeCredentialRequest }
func (*Done) Type() MessageType                  { return TypeDone }
