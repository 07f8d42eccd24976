package protocol

import "slices"

// Reason is why something was not collected: the "reason" of DETAIL_GAP and SKIP_RESULT. Connectors may send
// others; the system acts on the sets below.
type Reason string

const (
	// Stops that the system or its owner chose. They never start a cooldown.
	ReasonMaxRequests  Reason = "max_requests"
	ReasonMaxWallClock Reason = "max_wall_clock"
	ReasonRetryBudget  Reason = "retry_budget"
	ReasonCircuitOpen  Reason = "circuit_open"

	// Refusals of the provider. Only these start the cross-run cooldown.
	ReasonRateLimited      Reason = "rate_limited"
	ReasonUpstreamPressure Reason = "upstream_pressure"

	ReasonAuthFailure          Reason = "auth_failure"
	ReasonGone                 Reason = "gone"
	ReasonNotFound             Reason = "not_found"
	ReasonPermanentForbidden   Reason = "permanent_forbidden"
	ReasonQuarantined          Reason = "quarantined"
	ReasonNotAvailableInMode   Reason = "not_available_in_mode"
	ReasonOutOfScope           Reason = "out_of_scope"
	ReasonUserDisabled         Reason = "user_disabled"
	ReasonRunCapDeferred       Reason = "run_cap_deferred"
	ReasonRetryExhausted       Reason = "retry_exhausted"
	ReasonTemporaryUnavailable Reason = "temporary_unavailable"

	// ReasonNotReached is for a stream that a failed run did not reach. Nothing is known to be missing.
	ReasonNotReached Reason = "not_reached"

	// ReasonTooManyRejected is set by the runner if too many records of a stream are invalid.
	ReasonTooManyRejected Reason = "too_many_records_rejected"

	// Set by the runner for a file of a record: it exceeds the owner's limit, the storage is full, or the file
	// was not there as described.
	ReasonBlobTooLarge Reason = "blob_too_large"
	ReasonBlobNoRoom   Reason = "blob_no_room"
	ReasonBlobFailed   Reason = "blob_failed"

	// ReasonMissingKept is set by the runner for stored records that a full walk did not find and that are kept,
	// because they are too many.
	ReasonMissingKept Reason = "missing_records_kept"

	// ReasonRecordRejected is set by the server for a rejected record of a device.
	ReasonRecordRejected Reason = "record_rejected"
)

// ClassRunCap is the error class of a gap caused by the owner's run cap. Such a gap has the resumable reason
// retry_exhausted and no HTTP status, because nothing failed (RT-17).
const ClassRunCap = "run_cap_deferred"

// ClassUpstreamPressure is the error class of a gap caused by the provider's pressure.
const ClassUpstreamPressure = "upstream_pressure_deferred"

// The closed sets of reasons. BudgetDeferReasons and SourcePressureReasons are disjoint: a stop that we chose is
// never reported as the provider's pressure (RT-24).
var (
	BudgetDeferReasons     = []Reason{ReasonMaxRequests, ReasonMaxWallClock, ReasonRetryBudget, ReasonCircuitOpen}
	SourcePressureReasons  = []Reason{ReasonRateLimited, ReasonUpstreamPressure}
	OwnerRequiredReasons   = []Reason{ReasonAuthFailure}
	ConnectorDefectReasons = []Reason{
		ReasonGone,
		ReasonNotFound,
		ReasonPermanentForbidden,
		ReasonQuarantined,
		ReasonTooManyRejected,
		ReasonRecordRejected,
	}
	InformationalReasons = []Reason{ReasonNotAvailableInMode, ReasonOutOfScope, ReasonUserDisabled, ReasonBlobTooLarge,
		ReasonMissingKept}
	ResumableReasons = []Reason{ReasonRunCapDeferred, ReasonRetryExhausted, ReasonTemporaryUnavailable,
		ReasonNotReached, ReasonBlobFailed, ReasonBlobNoRoom}
)

// SourcePressure reports whether the reason starts the cross-run cooldown.
func (r Reason) SourcePressure() bool { return slices.Contains(SourcePressureReasons, r) }

// BudgetDefer reports whether the reason is a planned stop of a provider budget.
func (r Reason) BudgetDefer() bool { return slices.Contains(BudgetDeferReasons, r) }

// transientReasons mark a gap that the next run is expected to close.
var transientReasons = []Reason{
	"http_429", "manifest_stream_unresolved", ReasonRateLimited, ReasonRetryExhausted,
	ReasonTemporaryUnavailable, ReasonNotReached, ReasonUpstreamPressure, "upstream_pressure_deferred",
}

// Transient reports whether the next run is expected to resolve the reason without help.
func (r Reason) Transient() bool { return slices.Contains(transientReasons, r) }
