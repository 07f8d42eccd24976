package evidence

import (
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/protocol"
)

// RunStatus is how a run ended.
type RunStatus string

const (
	RunSucceeded RunStatus = "succeeded"
	RunFailed    RunStatus = "failed"
	RunCancelled RunStatus = "cancelled"
	RunAbandoned RunStatus = "abandoned"
)

// RunStatuses lists how a run can end.
var RunStatuses = []RunStatus{RunSucceeded, RunFailed, RunCancelled, RunAbandoned}

// ActiveRun is a run in progress.
type ActiveRun struct {
	ID        string    `json:"run_id"`
	StartedAt time.Time `json:"started_at"`
	// LeaseUntil is when the run's process counts as dead unless it renews the lease; nil when unknown.
	LeaseUntil *time.Time `json:"lease_expires_at"`
}

// requestGrace is how long a requested run counts as started. A worker starts it within seconds; after that it waits
// for a slot and is not in progress.
const requestGrace = time.Minute

// Syncing reports whether a run is in progress or about to start. A run that waits for the provider is neither.
func (e *Evidence) Syncing(now time.Time) bool {
	if e.Active != nil || e.RequestedAt == nil {
		return e.Active != nil
	}
	return now.Sub(*e.RequestedAt) < requestGrace && e.ActiveWait(now) == nil
}

// AsOf returns the evidence as of now. A run that let its lease expire counts as abandoned at that moment, because
// its process died; the next run will record this. Its questions are dropped: no process can receive the answers.
// AsOf never modifies e, and returns e itself if there is no such run.
func (e *Evidence) AsOf(now time.Time) *Evidence {
	dead := e.Active
	if dead == nil || dead.LeaseUntil == nil || dead.LeaseUntil.After(now) {
		return e
	}
	out := *e
	out.Active = nil
	out.LastRun = &Run{ID: dead.ID, Status: RunAbandoned, StartedAt: dead.StartedAt, EndedAt: *dead.LeaseUntil}
	out.Attention = slices.DeleteFunc(slices.Clone(e.Attention), func(q Attention) bool { return q.RunID == dead.ID })
	return &out
}

// TriggerDevice is the trigger of a run on a device of the owner.
const TriggerDevice = "device"

// Run is a finished run.
type Run struct {
	ID           string    `json:"run_id"`
	Status       RunStatus `json:"status"`
	Trigger      string    `json:"trigger_kind,omitempty"`
	RecoveryOnly bool      `json:"recovery_only,omitempty"`
	StartedAt    time.Time `json:"started_at"`
	EndedAt      time.Time `json:"completed_at"`
	// Committed is the number of records that the run stored durably.
	Committed *int64 `json:"records_committed"`
	// Recovered is the number of gaps that the run closed.
	Recovered *int64   `json:"gaps_recovered"`
	Failure   *Failure `json:"failure"`
	// Unanswered means that the run did not succeed and that the owner declined a question or did not answer in time.
	Unanswered bool `json:"question_unanswered,omitempty"`
}

// Failure is why a run did not succeed. Its texts contain no secrets.
type Failure struct {
	Reason    string                  `json:"reason"`           // connector_reported_failed, runtime_binding_missing, ...
	Origin    string                  `json:"origin,omitempty"` // connector, runtime, transport, storage
	Message   string                  `json:"message,omitempty"`
	Code      string                  `json:"code,omitempty"` // the connector's own: auth_failure, ...
	Retryable *bool                   `json:"retryable"`
	Action    protocol.RecoveryAction `json:"recovery_action,omitempty"`
}

// Rate is the collection pace that a run reported, with the run's end.
type Rate struct {
	At time.Time `json:"at"`
	Pace
}

// Pace is how fast a run fetched, and the fastest rate it was allowed.
type Pace struct {
	CurrentIntervalMS   float64               `json:"current_interval_ms"`
	CeilingIntervalMS   float64               `json:"ceiling_interval_ms"`
	EffectiveRatePerMin float64               `json:"effective_rate_per_min"`
	CeilingRatePerMin   float64               `json:"ceiling_rate_per_min"`
	LastBackoff         *protocol.RateBackoff `json:"last_backoff"`
}
