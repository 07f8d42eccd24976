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

// ActiveRun is a run under way.
type ActiveRun struct {
	ID        string    `json:"run_id"`
	StartedAt time.Time `json:"started_at"`
	// LeaseUntil is when its process is taken for dead unless it renews; nil when
	// that is not known.
	LeaseUntil *time.Time `json:"lease_expires_at"`
}

// aboutToRun is how long a run that was asked for counts as begun. A worker takes
// it up within seconds; one that waits for longer waits for a place, and is not
// under way.
const aboutToRun = time.Minute

// Syncing reports whether a run is under way, or about to be. One that waits for
// the provider is not.
func (e *Evidence) Syncing(now time.Time) bool {
	if e.Active != nil || e.RequestedAt == nil {
		return e.Active != nil
	}
	return now.Sub(*e.RequestedAt) < aboutToRun && e.WaitInForce(now) == nil
}

// AsOf is the evidence with a run whose process died taken for what it is: over,
// since its lease ran out. The next run records it so; until then only the clock
// tells. Its questions have nobody left to be answered to. Without such a run it
// is the evidence itself, which is never changed.
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

// TriggerDevice is the trigger of a run that a device of the owner makes.
const TriggerDevice = "device"

// Run is a run that ended.
type Run struct {
	ID           string    `json:"run_id"`
	Status       RunStatus `json:"status"`
	Trigger      string    `json:"trigger_kind,omitempty"`
	RecoveryOnly bool      `json:"recovery_only,omitempty"`
	StartedAt    time.Time `json:"started_at"`
	EndedAt      time.Time `json:"completed_at"`
	// Committed is the number of records that the run made durable.
	Committed *int64 `json:"records_committed"`
	// Recovered is the number of gaps that the run closed.
	Recovered *int64   `json:"gaps_recovered"`
	Failure   *Failure `json:"failure"`
	// Unanswered says that the run did not succeed and that the owner refused something it
	// asked, or left it until its time or the run was over.
	Unanswered bool `json:"question_unanswered,omitempty"`
}

// Failure is why a run did not succeed, in words that are safe to keep.
type Failure struct {
	Reason    string                  `json:"reason"`           // connector_reported_failed, runtime_binding_missing, ...
	Origin    string                  `json:"origin,omitempty"` // connector, runtime, transport, storage
	Message   string                  `json:"message,omitempty"`
	Code      string                  `json:"code,omitempty"` // the connector's own: auth_failure, ...
	Retryable *bool                   `json:"retryable"`
	Action    protocol.RecoveryAction `json:"recovery_action,omitempty"`
}

// Rate is the pace of collection as a run reported it, and when that run ended.
type Rate struct {
	At time.Time `json:"at"`
	Pace
}

// Pace is how fast a run fetched, and how fast it was allowed to.
type Pace struct {
	CurrentIntervalMS   float64               `json:"current_interval_ms"`
	CeilingIntervalMS   float64               `json:"ceiling_interval_ms"`
	EffectiveRatePerMin float64               `json:"effective_rate_per_min"`
	CeilingRatePerMin   float64               `json:"ceiling_rate_per_min"`
	LastBackoff         *protocol.RateBackoff `json:"last_backoff"`
}
