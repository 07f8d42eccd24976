package evidence

import (
	"time"

	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// Stream is a stream's declaration in the manifest with its latest measurement.
type Stream struct {
	Name     string                  `json:"stream"`
	Required bool                    `json:"required"`
	Policy   manifest.CoveragePolicy `json:"coverage_policy,omitempty"` // empty means collect
	// only a wrapped program reports that it is complete
	SelfReported bool   `json:"as_told,omitempty"`
	Fact         *Fact  `json:"fact"` // nil when no run has measured the stream
	Retained     *int64 `json:"retained"`
}

// ReportedByConnector is added to every statement that a stream with SelfReported is complete.
const ReportedByConnector = manifest.ReportedByConnector

// Fact is the result for the stream of the newest run that had it in scope.
type Fact struct {
	RunID     string    `json:"run_id,omitempty"`
	RunStatus RunStatus `json:"run_status"`
	At        time.Time `json:"at"`
	Collected int64     `json:"collected"`
	// Considered and Covered are nil when the run could not count.
	Considered *int64 `json:"considered"`
	Covered    *int64 `json:"covered"`
	Checkpoint string `json:"checkpoint,omitempty"` // committed, staged, withheld or none
	Skip       *Skip  `json:"skipped"`
	// Drift is how the provider's answers differ from what the connector expects, by the newest run that measured each
	// part; nil when nothing differs.
	Drift *Drift `json:"answer_drift,omitempty"`
}

// What happened to a stream's cursor.
const (
	CheckpointCommitted = "committed"
	CheckpointWithheld  = "withheld"
)

// Skip is the run's declaration that it left out the stream or part of it.
type Skip struct {
	Reason string                  `json:"reason"`
	Action protocol.RecoveryAction `json:"recovery_action,omitempty"`
}

// Gaps are the items durably known to be missing, grouped.
type Gaps struct {
	// Groups are the outstanding gaps: pending, or leased to a run.
	Groups []GapGroup `json:"outstanding"`
	// Floor means that the read was bounded, so the counts are lower bounds.
	Floor bool `json:"floor,omitempty"`
	// Recovered counts items that pressure deferred and a later run fetched; nil when not counted. Terminal counts items
	// that no later run can fetch.
	Recovered *int64 `json:"recovered"`
	Terminal  *int64 `json:"terminal"`
}

// GapGroup contains the outstanding gaps of one stream and reason.
type GapGroup struct {
	Stream      string          `json:"stream"`
	Reason      protocol.Reason `json:"reason"`
	Count       int64           `json:"count"`
	MaxAttempts int64           `json:"max_attempt_count"`
	NotBefore   *time.Time      `json:"next_attempt_at"` // the latest one of the group
	// Earliest is when the first gap of the group may be retried; nil when one may be retried now.
	Earliest *time.Time `json:"earliest_attempt_at"`
}

// Outstanding reports whether the stream has a gap that a later run may fill.
func (g *Gaps) Outstanding(stream string) bool { return g.Waiting(stream) > 0 }

// Waiting counts the gaps of the stream that a later run may fill. It returns zero if gaps could not be read.
func (g *Gaps) Waiting(stream string) (n int64) {
	if g == nil {
		return 0
	}
	for i := range g.Groups {
		if g.Groups[i].Stream == stream {
			n += max(0, g.Groups[i].Count)
		}
	}
	return n
}

// FullyCovered reports whether the stream is complete however its run ended: its cursor is durable and all considered
// items were covered.
func (f *Fact) FullyCovered() bool {
	return f.Checkpoint == CheckpointCommitted && f.Considered != nil && f.Covered != nil && *f.Covered >= *f.Considered
}

// Unreported reports whether no record of the stream is stored and its newest run reported nothing: no record, count
// or cursor. A run that finds an empty source reports a count of zero or a cursor.
func (s *Stream) Unreported() bool {
	f := s.Fact
	return f != nil && f.Collected == 0 && f.Considered == nil && f.Covered == nil &&
		f.Checkpoint != CheckpointCommitted &&
		(s.Retained == nil || *s.Retained == 0)
}

// TotalShort reports whether a complete walk listed fewer items than the provider announced.
func (f *Fact) TotalShort() bool { return f.Drift != nil && f.Drift.Total.Short() }

// Short reports whether the run covered less than it considered.
func (f *Fact) Short() bool {
	return f.Considered != nil && f.Covered != nil && *f.Covered < *f.Considered
}
