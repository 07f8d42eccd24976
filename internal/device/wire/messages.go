// Package wire is what a collector on the owner's machine and the server
// say to each other: the messages, and the device's client for them.
//
// A device reports and uploads. It cannot read records, and the token that
// identifies it appears in one request header and nowhere else.
package wire

import (
	"time"

	"pdpp/internal/slice"
)

// Every request of a device names the version of these messages.
const (
	ProtocolHeader  = "X-PDPP-Collector-Protocol"
	ProtocolVersion = "1"
)

// Batch is one upload. Sending it again under its id changes nothing; sending
// other records under that id is a conflict.
type Batch struct {
	DeviceID         string         `json:"device_id"`
	SourceInstanceID string         `json:"source_instance_id"`
	ConnectorID      string         `json:"connector_id"`
	BatchID          string         `json:"batch_id"`
	BatchSeq         int64          `json:"batch_seq"`
	BodyHash         string         `json:"body_hash"`
	Records          []slice.Record `json:"records"`
}

// BatchAnswer is what became of a batch.
type BatchAnswer struct {
	Status   string `json:"status"`
	Accepted int64  `json:"accepted_record_count"`
	Rejected int64  `json:"rejected_record_count"`
}

// What a collector says of itself in a heartbeat.
const (
	StatusStarting = "starting"
	StatusHealthy  = "healthy"
	StatusRetrying = "retrying"
	StatusBlocked  = "blocked"
	StatusStopped  = "stopped"
)

// Heartbeat is a collector's report about one source.
type Heartbeat struct {
	SourceInstanceID string          `json:"source_instance_id"`
	ConnectorID      string          `json:"connector_id"`
	Status           string          `json:"status"`
	AgentVersion     string          `json:"agent_version,omitzero"`
	RecordsPending   *int64          `json:"records_pending,omitzero"` // nil: not counted
	Outbox           *OutboxCounts   `json:"outbox,omitzero"`          // nil: not counted
	LastError        *HeartbeatError `json:"last_error,omitzero"`
}

// OutboxCounts is how much work a device holds, in numbers alone. Retrying is
// part of Pending, and StaleLeases is part of Leased.
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

// Gap is something that a collector did not collect.
type Gap struct {
	Reason  string `json:"reason"`
	Stream  string `json:"stream,omitzero"`
	Message string `json:"message,omitzero"`
}
