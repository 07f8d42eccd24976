// Package wire defines the messages between a collector on the owner's machine and the server, and the
// device's client.
//
// A device reports and uploads. It cannot read records. Its token appears only in one request header.
package wire

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/protocol"
)

// Every request of a device names the version of these messages.
const (
	ProtocolHeader  = "X-PDPP-Collector-Protocol"
	ProtocolVersion = "1"
)

// Root is the path below which all routes of devices are.
const Root = "/_ref/device-exporters"

// Values of the object member of an answer. A client rejects an answer with an unexpected value,
// because it does not come from the server.
const (
	ObjectEnrollmentCode = "device_exporter_enrollment_code"
	ObjectEnrollment     = "device_exporter_enrollment"
	ObjectToken          = "device_exporter_token"
	ObjectRevocation     = "device_exporter_revocation"
	ObjectHeartbeat      = "device_exporter_heartbeat"
	ObjectState          = "device_source_instance_state"
	ObjectBatchResult    = "device_ingest_batch_result"
	ObjectGap            = "device_local_collector_gap"
	ObjectGapList        = "device_source_instance_gaps"
	ObjectTerminalCommit = "device_terminal_run_commit"
	ObjectBlob           = "device_blob"
)

// Codes of refusals, as the error envelope carries them.
const (
	CodeProtocolMismatch = "collector_protocol_mismatch" // 409, with accepted_versions
	CodeManifestMismatch = "connector_manifest_mismatch" // 409: the server does not know a stream of the batch
	CodeBatchConflict    = "device_batch_conflict"       // 409
	CodeHashMismatch     = "device_batch_hash_mismatch"  // 400
	CodeCheckpointAhead  = "device_checkpoint_ahead"     // 409
	CodeCommitConflict   = "terminal_run_commit_conflict"
	CodeBusy             = "device_busy"             // 429, with Retry-After
	CodeIngestRetryable  = "device_ingest_retryable" // 503, with Retry-After
	CodeBlobOffset       = "device_blob_offset"      // 409: the piece does not begin where the file ends
	CodeBlobContent      = "device_blob_content"     // 400: the content does not match the hash in the address
	CodeBlobTooLarge     = "blob_too_large"          // 400: the owner keeps no file of this size
)

// CollectionScope limits what is collected. The owner sets it; a device may
// narrow it and never widen it.
type CollectionScope struct {
	Since       *time.Time `json:"since,omitzero"`
	SourceRoots []string   `json:"source_roots,omitempty"`
}

// Enrollment is what a device sends to become one. A device that has a token of this
// server sends it along, and the source joins that device.
type Enrollment struct {
	Code            string           `json:"enrollment_code"`
	AgentVersion    string           `json:"agent_version,omitzero"`
	DeviceLabel     string           `json:"device_label,omitzero"`
	CollectionScope *CollectionScope `json:"collection_scope,omitzero"`
}

// Enrolled is who the device is from now on. DeviceToken is empty when the source
// joined a device that has one.
type Enrolled struct {
	Object   string `json:"object" enum:"device_exporter_enrollment"`
	DeviceID string `json:"device_id"`
	// absent when the source joins a known device
	DeviceToken         string           `json:"device_token,omitzero"`
	SourceInstanceID    string           `json:"source_instance_id"`
	ConnectorInstanceID string           `json:"connector_instance_id"`
	ConnectorID         string           `json:"connector_id"`
	LocalBindingName    string           `json:"local_binding_name"`
	CollectionScope     *CollectionScope `json:"collection_scope,omitzero"`
}

// NewToken is a token that replaces the one it was asked with. The old one lives
// until the new one is first used.
type NewToken struct {
	Object      string `json:"object" enum:"device_exporter_token"`
	DeviceID    string `json:"device_id"`
	DeviceToken string `json:"device_token"`
}

// Revocation is the end of a device.
type Revocation struct {
	Object    string    `json:"object" enum:"device_exporter_revocation"`
	DeviceID  string    `json:"device_id"`
	RevokedAt time.Time `json:"revoked_at"`
}

// Server capabilities beyond plain version 1. The server lists them in a source's state.
const (
	CanGzip        = "gzip"           // bodies of uploads may be compressed
	CanBatchState  = "batch_state"    // a batch may carry run, state and gaps, committed with its records
	CanLeaseGaps   = "gap_leases"     // the gaps of a source can be asked for
	CanRotateToken = "token_rotation" // a device may ask for a new token
	// CanTerminalFacts: a run's end is taken with what it knows of its streams.
	CanTerminalFacts = "terminal_facts"
	// CanAnswerDrift: terminal facts may report how a provider's answers differ.
	CanAnswerDrift = "answer_drift"
	// CanBlobs: the files of records are taken, before the records.
	CanBlobs = "blobs"
)

// Limits bound one upload. Zero means that the server did not state the limit.
type Limits struct {
	BodyBytes    int64 `json:"body_bytes,omitzero"` // before compression
	BatchRecords int64 `json:"batch_records,omitzero"`
	BlobBytes    int64 `json:"blob_bytes,omitzero"` // of one file; negative: there is no bound
}

// Headers of a piece of a file: where it begins, and how long the whole is.
const (
	OffsetHeader = "Upload-Offset"
	LengthHeader = "Upload-Length"
)

// BlobPiece is the longest piece of a file that is sent at once.
const BlobPiece = 4 << 20

// Blob is how much of a file of a source the server has.
type Blob struct {
	Object   string `json:"object" enum:"device_blob"`
	SHA256   string `json:"sha256"`
	Received int64  `json:"received_bytes"`
	Whole    bool   `json:"whole"` // a record may name it
}

// State is where a source goes on, by stream. The bookmark of a catch-up is under the
// stream's name with CatchUpMark; keys that begin with $ are the server's own.
type State struct {
	Object              string                    `json:"object"`
	DeviceID            string                    `json:"device_id,omitzero"`
	SourceInstanceID    string                    `json:"source_instance_id,omitzero"`
	ConnectorInstanceID string                    `json:"connector_instance_id,omitzero"`
	State               map[string]jsontext.Value `json:"state"`
	Capabilities        []string                  `json:"capabilities,omitempty"`
	Limits              Limits                    `json:"limits,omitzero"`
	ServerTime          *time.Time                `json:"server_time,omitzero"`
	// MaxBatchSeq is the highest number that was received of the source. Lower ones count
	// as overtaken, so a device that lost its queue goes on above it.
	MaxBatchSeq int64 `json:"max_batch_seq,omitzero"`
}

// CatchUpMark ends the key of a stream's second bookmark. No stream's name holds it.
const CatchUpMark = "#catch_up"

// ServerKey begins the keys of a state that are the server's own. ScopeKey holds what the owner
// lets the source collect, DeletedKey a list of the streams that the owner deleted.
const (
	ServerKey  = "$"
	ScopeKey   = ServerKey + "collection_scope"
	DeletedKey = ServerKey + "deleted_streams"
)

// Scope is what the owner lets the source collect; the zero scope limits nothing.
func (s *State) Scope() (scope CollectionScope, err error) {
	if raw := s.State[ScopeKey]; len(raw) > 0 {
		if err := json.Unmarshal(raw, &scope); err != nil {
			return CollectionScope{}, fmt.Errorf("read the scope: %w", err)
		}
	}
	return scope, nil
}

// DeletedStreams names the streams that the owner deleted: they are not collected.
func (s *State) DeletedStreams() (streams []string, err error) {
	if raw := s.State[DeletedKey]; len(raw) > 0 {
		if err := json.Unmarshal(raw, &streams); err != nil {
			return nil, fmt.Errorf("read the deleted streams: %w", err)
		}
	}
	return streams, nil
}

// TimeRange is the span of a stream's records that the scope leaves; nil leaves all.
func (s *CollectionScope) TimeRange() *protocol.TimeRange {
	if s.Since == nil {
		return nil
	}
	return &protocol.TimeRange{Since: s.Since.UTC().Format(time.RFC3339Nano)}
}

// StateUpdate moves bookmarks. It must not be taken before the batch that it names.
type StateUpdate struct {
	State        map[string]jsontext.Value `json:"state"`
	AfterBatchID string                    `json:"after_batch_id,omitzero"`
}

// Batch is one upload. Sending it again under its id changes nothing; sending
// other records under that id is a conflict. RunID and what follows it are for a server
// that can CanBatchState: it commits them with the records, of which there may be none.
type Batch struct {
	DeviceID         string                    `json:"device_id"`
	SourceInstanceID string                    `json:"source_instance_id"`
	ConnectorID      string                    `json:"connector_id"`
	BatchID          string                    `json:"batch_id"`
	BatchSeq         int64                     `json:"batch_seq"`
	BodyHash         string                    `json:"body_hash"`
	Records          []slice.Record            `json:"records"`
	RunID            string                    `json:"run_id,omitzero"`
	State            map[string]jsontext.Value `json:"state,omitempty"`
	Gaps             []slice.Gap               `json:"gaps,omitempty"`
	AttemptedGaps    []GapIdentity             `json:"attempted_gaps,omitempty"`
	RecoveredGaps    []GapIdentity             `json:"recovered_gaps,omitempty"`
	AfterBatchID     string                    `json:"after_batch_id,omitzero"`
}

// GapIdentity identifies a gap by its record key, or by its locator if the key is not known.
type GapIdentity struct {
	Stream       string         `json:"stream"`
	ParentStream string         `json:"parent_stream,omitzero"`
	RecordKey    string         `json:"record_key,omitzero"`
	Locator      jsontext.Value `json:"locator,omitzero"`
}

// BatchResult is what became of a batch.
type BatchResult struct {
	Object              string      `json:"object"`
	Status              string      `json:"status"`
	DeviceID            string      `json:"device_id,omitzero"`
	SourceInstanceID    string      `json:"source_instance_id,omitzero"`
	ConnectorInstanceID string      `json:"connector_instance_id,omitzero"`
	BatchID             string      `json:"batch_id,omitzero"`
	BatchSeq            int64       `json:"batch_seq,omitzero"`
	Accepted            int64       `json:"accepted_record_count"`
	Rejected            int64       `json:"rejected_record_count"`
	Rejections          []Rejection `json:"rejections,omitempty"`
}

// Rejection is a record that the server did not take, by its place in the batch. The
// server has kept a gap for it.
type Rejection struct {
	Index int    `json:"index"`
	Code  string `json:"code"`
}

// Statuses that a collector reports in a heartbeat.
const (
	StatusStarting = "starting"
	StatusHealthy  = "healthy"
	StatusRetrying = "retrying"
	StatusBlocked  = "blocked"
	StatusStopped  = "stopped"
)

// Heartbeat is a collector's report about one source.
type Heartbeat struct {
	SourceInstanceID string     `json:"source_instance_id"`
	ConnectorID      string     `json:"connector_id"`
	Status           string     `json:"status"`
	AgentVersion     string     `json:"agent_version,omitzero"`
	InstallationID   string     `json:"installation_id,omitzero"`
	SentAt           *time.Time `json:"sent_at,omitzero"` // by the device's clock
	// the run that goes on, or that a healthy heartbeat ends
	RunID           string          `json:"run_id,omitzero"`
	RecordsPending  *int64          `json:"records_pending,omitzero"`  // nil: not counted
	RejectedRecords *int64          `json:"rejected_records,omitzero"` // nil: not counted
	Outbox          *OutboxCounts   `json:"outbox,omitzero"`           // nil: not counted
	LastError       *HeartbeatError `json:"last_error,omitzero"`
}

// Heartbeats is the report about several sources at once.
type Heartbeats struct {
	AgentVersion    string      `json:"agent_version,omitzero"`
	InstallationID  string      `json:"installation_id,omitzero"`
	SentAt          *time.Time  `json:"sent_at,omitzero"`
	SourceInstances []Heartbeat `json:"source_instances"`
}

// HeartbeatAnswer is what the server wants of the device.
type HeartbeatAnswer struct {
	Object     string    `json:"object"`
	Status     string    `json:"status"`
	ReceivedAt time.Time `json:"received_at,omitzero"`
	// RequestedRun is set if the owner requested a pass.
	RequestedRun        bool   `json:"requested_run,omitzero"`
	MinimumAgentVersion string `json:"minimum_agent_version,omitzero"`
}

// OutboxCounts is the number of items in a device's outbox, by status. Pending includes Retrying, and
// Leased includes StaleLeases.
type OutboxCounts struct {
	Pending         int64      `json:"pending"`
	Retrying        int64      `json:"retrying"`
	Leased          int64      `json:"leased"`
	StaleLeases     int64      `json:"stale_leases"`
	DeadLetter      int64      `json:"dead_letter"`
	Succeeded       int64      `json:"succeeded"`
	Total           int64      `json:"total"`
	BacklogOpen     int64      `json:"backlog_open"`
	OldestPendingAt *time.Time `json:"oldest_pending_at,omitzero"`
}

// Why a collector is blocked.
const (
	ErrorStateReadFailed   = "state_read_failed"
	ErrorDeadLetterBacklog = "dead_letter_backlog"
)

// HeartbeatError is a cause in codes and numbers, never in content.
type HeartbeatError struct {
	Kind                 string            `json:"kind"`
	TopDeadLetterClasses []DeadLetterClass `json:"top_dead_letter_classes,omitempty"`
}

// DeadLetterClass is how many uploads failed for good with one code.
type DeadLetterClass struct {
	ErrorClass string `json:"error_class"`
	Count      int64  `json:"count"`
}

// Why a collector could not collect something.
const (
	GapPolicyBudget          = "policy_budget"
	GapConnectorChildFailure = "connector_child_failure"
)

// Gap is something that a collector did not collect. The same source, reason, stream
// and boundary again is the same gap.
type Gap struct {
	SourceInstanceID     string         `json:"source_instance_id"`
	ConnectorID          string         `json:"connector_id"`
	Reason               string         `json:"reason"`
	FirstSeenAt          time.Time      `json:"first_seen_at"`
	Retryable            bool           `json:"retryable"`
	NextAttemptBackoffMS int64          `json:"next_attempt_backoff_ms"`
	Stream               string         `json:"stream,omitzero"`
	StreamBoundary       string         `json:"stream_boundary,omitzero"`
	Details              jsontext.Value `json:"details,omitzero"` // codes and numbers
	FirstSeenRunID       string         `json:"first_seen_run_id,omitzero"`
	LastRunID            string         `json:"last_run_id,omitzero"`
}

// GapRecovered reports that the data of an earlier Gap was collected.
type GapRecovered struct {
	SourceInstanceID string `json:"source_instance_id"`
	ConnectorID      string `json:"connector_id"`
	Reason           string `json:"reason"`
	Stream           string `json:"stream,omitzero"`
	StreamBoundary   string `json:"stream_boundary,omitzero"`
	RecoveredRunID   string `json:"recovered_run_id,omitzero"`
}

// GapAnswer is what became of a Gap or a GapRecovered.
type GapAnswer struct {
	Object string `json:"object"`
	GapID  string `json:"gap_id,omitzero"`
	Status string `json:"status"`
}

// LeasedGap is a gap that is this device's to try until the lease ends.
type LeasedGap struct {
	GapID string `json:"gap_id"`
	GapIdentity
	Reason         string    `json:"reason"`
	AttemptCount   int64     `json:"attempt_count"`
	LeaseExpiresAt time.Time `json:"lease_expires_at"`
}

// LeasedGaps are the gaps of a source that its device may try.
type LeasedGaps struct {
	Object string      `json:"object"`
	Data   []LeasedGap `json:"data"`
}

// TerminalCommit reports the end of a run, with the cursor changes and the facts of its streams.
type TerminalCommit struct {
	Version             int                       `json:"version"` // 1
	CommitID            string                    `json:"commit_id"`
	RunID               string                    `json:"run_id"`
	DeviceID            string                    `json:"device_id"`
	SourceInstanceID    string                    `json:"source_instance_id"`
	ConnectorID         string                    `json:"connector_id"`
	ConnectorInstanceID string                    `json:"connector_instance_id"`
	CollectionBoundary  jsontext.Value            `json:"collection_boundary,omitzero"`
	StateDelta          map[string]jsontext.Value `json:"state_delta"`
	TerminalFacts       []TerminalFact            `json:"terminal_facts"`
}

// TerminalFact is what a run knows of one stream at its end.
type TerminalFact struct {
	Stream           string   `json:"stream"`
	CoverageStatuses []string `json:"coverage_statuses"`
	Scoped           *bool    `json:"scoped,omitzero"`
	// AnswerDrift is how the provider's answers differ from what the connector expects, for a server
	// with CanAnswerDrift. The hash of the commit does not cover it.
	AnswerDrift *protocol.AnswerDrift `json:"answer_drift,omitzero"`
}

// TerminalCommitted is the receipt of a TerminalCommit.
type TerminalCommitted struct {
	Object          string `json:"object"`
	CommitID        string `json:"commit_id"`
	RunID           string `json:"run_id"`
	EnvelopeHash    string `json:"envelope_hash"`
	TerminalEventID string `json:"terminal_event_id"`
}
