package runner

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/protocol"
)

// Status is the final state of a run.
type Status string

const (
	Succeeded Status = "succeeded"
	Failed    Status = "failed"
	Cancelled Status = "cancelled"
)

// Reason is the cause of a run that did not succeed.
type Reason string

const (
	ReasonViolation          Reason = "connector_protocol_violation"
	ReasonInvalidAnswer      Reason = "interaction_handler_invalid_response"
	ReasonRuntimeError       Reason = "runtime_error"
	ReasonTimedOut           Reason = "run_timed_out"
	ReasonAssistanceTimedOut Reason = "assistance_timed_out"
	ReasonOwnerCancelled     Reason = "owner_cancelled"
	ReasonOwnerCancelForced  Reason = "owner_cancel_forced"
	ReasonConnectorFailed    Reason = "connector_reported_failed"
	ReasonConnectorCancelled Reason = "connector_reported_cancelled"
	ReasonExitWithoutDone    Reason = "connector_exit_without_done"
	ReasonStdinClosed        Reason = "connector_stdin_closed"
	ReasonSpawnFailed        Reason = "connector_spawn_failed"
	ReasonBindingMissing     Reason = "runtime_binding_missing"
	ReasonModuleMissing      Reason = "module_missing"
	ReasonPathMissing        Reason = "path_missing"
	ReasonInvalidScope       Reason = "invalid_scope"
	ReasonStorage            Reason = "storage_error"
	ReasonShutdown           Reason = "runtime_shutdown"
	ReasonGrantExpired       Reason = "grant_expired"
	ReasonGrantRevoked       Reason = "grant_revoked"
)

// Origin is the part in which a failure arose.
type Origin string

const (
	OriginConnector Origin = "connector"
	OriginRuntime   Origin = "runtime"
	OriginTransport Origin = "transport"
	OriginStorage   Origin = "storage"
)

// maxMessage bounds every message that a run stores, in characters.
const maxMessage = 500

// Failure describes why a run did not succeed. Its message contains no secrets.
type Failure struct {
	Reason    Reason
	Origin    Origin
	Message   string
	Violation *protocol.Violation
	// Phase is the message that was not delivered because the connector's stdin was closed.
	Phase string
	// Err is the underlying error. It is not stored.
	Err error
}

// Error implements error.
func (f *Failure) Error() string { return string(f.Reason) + ": " + f.Message }

// Commit status of the run's checkpoints.
const (
	CommitDisabled  = "disabled"
	CommitNone      = "not_committed"
	CommitPartially = "partially_committed"
	CommitFull      = "committed"
)

// Checkpoint summarizes the run's cursors and records.
type Checkpoint struct {
	Mode             string   `json:"mode"`
	CommitStatus     string   `json:"commit_status"`
	StreamsStaged    []string `json:"state_streams_staged"`
	StreamsCommitted []string `json:"state_streams_committed"`
	StreamsWithheld  []string `json:"state_streams_withheld,omitempty"`
	BufferedDropped  int64    `json:"buffered_records_dropped"`
	RecordsAttempted int64    `json:"records_attempted"`
	RecordsAccepted  int64    `json:"records_accepted"`
	RecordsFlushed   int64    `json:"records_flushed"`
	RecordsRejected  int64    `json:"records_permanently_rejected,omitzero"`
	Slices           int64    `json:"slices_committed"`
}

// KnownGap is evidence, at the end of a run, that data is missing.
type KnownGap struct {
	Kind         protocol.KnownGapKind     `json:"kind"`
	Reason       string                    `json:"reason"`
	Severity     protocol.KnownGapSeverity `json:"severity"`
	Stream       string                    `json:"stream,omitzero"`
	Message      string                    `json:"message,omitzero"`
	Count        int64                     `json:"count,omitzero"`
	RecoveryHint protocol.RecoveryHint     `json:"recovery_hint"`
	Diagnostics  jsontext.Value            `json:"diagnostics,omitzero"`
	Continuation *protocol.Continuation    `json:"continuation,omitzero"`
}

// StreamFacts is what the run measured of one stream.
type StreamFacts struct {
	Stream      string         `json:"stream"`
	Collected   int64          `json:"collected"`
	Considered  *int64         `json:"considered,omitzero"`
	Covered     *int64         `json:"covered,omitzero"`
	Checkpoint  string         `json:"checkpoint"`
	PendingGaps int64          `json:"pending_detail_gaps"`
	Skipped     *SkippedFact   `json:"skipped"`
	Scope       jsontext.Value `json:"collection_scope,omitzero"`
	// Drift is how the provider's answers differ from what the connector expects. Nil means not measured.
	Drift *protocol.AnswerDrift `json:"answer_drift,omitzero"`
}

// SkippedFact is a stream's most permanent skip; of equally permanent skips, the last.
type SkippedFact struct {
	Reason         string                  `json:"reason"`
	RecoveryAction protocol.RecoveryAction `json:"recovery_action,omitzero"`
	Continuation   *protocol.Continuation  `json:"continuation,omitzero"`
}

// CollectionFacts is the run's evidence per stream. It is nil for a recovery-only run.
type CollectionFacts struct {
	SchemaVersion int           `json:"schema_version"`
	ReferenceOnly bool          `json:"reference_only"`
	Streams       []StreamFacts `json:"streams"`
}

// Outcome is the complete result of a finished run.
type Outcome struct {
	Status         Status
	Failure        *Failure // nil when succeeded
	RecordsEmitted int64
	Reported       *int64
	DoneError      *protocol.DoneError
	Checkpoint     Checkpoint
	KnownGaps      []KnownGap
	Facts          *CollectionFacts
	Rate           *protocol.CollectionRate
	RateHistory    *RateHistory // nil exactly when Rate is
	StderrTail     string
	ExitCode       int
	// Events are the timeline entries that no commit has stored yet. The terminal one is last.
	Events []slice.Event
}
