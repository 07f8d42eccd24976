package protocol

import "slices"

// Reason is why something was not collected: the "reason" of DETAIL_GAP and
// SKIP_RESULT. The vocabulary is open on the wire (a connector may name its
// own), and the sets below are the ones that the system acts on.
type Reason string

const (
	// Stops that the system or its owner chose. They never arm a cooldown.
	ReasonMaxRequests  Reason = "max_requests"
	ReasonMaxWallClock Reason = "max_wall_clock"
	ReasonRetryBudget  Reason = "retry_budget"
	ReasonCircuitOpen  Reason = "circuit_open"

	// What the provider pushed back with. These alone arm the cross-run cooldown.
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

	// Of a stream that a failed run did not get to: nothing is known to be missing.
	ReasonNotReached Reason = "not_reached"

	// The runner's own, where too many records of a stream break their own rules.
	ReasonTooManyRejected Reason = "too_many_records_rejected"

	// The runner's, of a file that a record names: it is larger than the owner keeps, there is no
	// room for more, or it was not there as the record said.
	ReasonBlobTooLarge Reason = "blob_too_large"
	ReasonBlobNoRoom   Reason = "blob_no_room"
	ReasonBlobFailed   Reason = "blob_failed"

	// The runner's, of stored records that a whole walk did not meet and that are kept: they are too many.
	ReasonMissingKept Reason = "missing_records_kept"

	// The server's, of a record that a device sent and that was left out.
	ReasonRecordRejected Reason = "record_rejected"
)

// ClassRunCap is the error class of a gap that the owner's own run cap made.
// Such a gap has the resumable wire reason retry_exhausted and no HTTP status,
// because nothing failed (RT-17).
const ClassRunCap = "run_cap_deferred"

// ClassUpstreamPressure is the error class of a gap that the provider's pressure made.
const ClassUpstreamPressure = "upstream_pressure_deferred"

// The closed reason sets. BudgetDeferReasons and SourcePressureReasons are
// disjoint: a stop we chose is never reported as the provider's pressure (RT-24).
var (
	BudgetDeferReasons     = []Reason{ReasonMaxRequests, ReasonMaxWallClock, ReasonRetryBudget, ReasonCircuitOpen}
	SourcePressureReasons  = []Reason{ReasonRateLimited, ReasonUpstreamPressure}
	OwnerRequiredReasons   = []Reason{ReasonAuthFailure}
	ConnectorDefectReasons = []Reason{ReasonGone, ReasonNotFound, ReasonPermanentForbidden, ReasonQuarantined, ReasonTooManyRejected, ReasonRecordRejected}
	InformationalReasons   = []Reason{ReasonNotAvailableInMode, ReasonOutOfScope, ReasonUserDisabled, ReasonBlobTooLarge,
		ReasonMissingKept}
	ResumableReasons = []Reason{ReasonRunCapDeferred, ReasonRetryExhausted, ReasonTemporaryUnavailable,
		ReasonNotReached, ReasonBlobFailed, ReasonBlobNoRoom}
)

// SourcePressure reports whether the reason arms the cross-run cooldown.
func (r Reason) SourcePressure() bool { return slices.Contains(SourcePressureReasons, r) }

// BudgetDefer reports whether the reason is a planned stop of a provider budget.
func (r Reason) BudgetDefer() bool { return slices.Contains(BudgetDeferReasons, r) }

// transientReasons make a known gap "transient": the next run is expected to clear it.
var transientReasons = []Reason{
	"http_429", "manifest_stream_unresolved", ReasonRateLimited, ReasonRetryExhausted,
	ReasonTemporaryUnavailable, ReasonNotReached, ReasonUpstreamPressure, "upstream_pressure_deferred",
}

// Transient reports whether the reason is expected to pass by itself.
func (r Reason) Transient() bool { return slices.Contains(transientReasons, r) }
