package evidence

import (
	"time"

	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// Stream is what the manifest declares of a stream and what was last measured.
type Stream struct {
	Name     string                  `json:"stream"`
	Required bool                    `json:"required"`
	Policy   manifest.CoveragePolicy `json:"coverage_policy,omitempty"` // empty means collect
	AsTold   bool                    `json:"as_told,omitempty"`         // only a wrapped program tells that it is complete
	Fact     *Fact                   `json:"fact"`                      // nil: no run has measured the stream
	Retained *int64                  `json:"retained"`
}

// AsFar goes with every word that a stream is complete AsTold.
const ReportedByConnector = manifest.ReportedByConnector

// Fact is what the newest run that had the stream in scope found out about it.
type Fact struct {
	RunID     string    `json:"run_id,omitempty"`
	RunStatus RunStatus `json:"run_status"`
	At        time.Time `json:"at"`
	Collected int64     `json:"collected"`
	// Considered and Covered are nil when the run could not tell.
	Considered *int64 `json:"considered"`
	Covered    *int64 `json:"covered"`
	Checkpoint string `json:"checkpoint,omitempty"` // committed, staged, withheld or none
	Skip       *Skip  `json:"skipped"`
	// Drift is how the provider's answers differ from what the connector expects, by the
	// newest run that measured each part of it; nil when nothing differs.
	Drift *Drift `json:"answer_drift,omitempty"`
}

// What became of a stream's cursor.
const (
	CheckpointCommitted = "committed"
	CheckpointWithheld  = "withheld"
)

// Skip is the run's declaration that it left the stream, or part of it, out.
type Skip struct {
	Reason string                  `json:"reason"`
	Action protocol.RecoveryAction `json:"recovery_action,omitempty"`
}

// Gaps is what is durably known to be missing, grouped.
type Gaps struct {
	// Groups are the outstanding gaps: pending, or leased to a run right now.
	Groups []GapGroup `json:"outstanding"`
	// Floor says that the read was bounded, so that counts are at least.
	Floor bool `json:"floor,omitempty"`
	// Recovered counts what pressure had deferred and a later run fetched; nil
	// when it was not counted. Terminal counts what no later run can fetch.
	Recovered *int64 `json:"recovered"`
	Terminal  *int64 `json:"terminal"`
}

// GapGroup are the outstanding gaps of one stream and reason.
type GapGroup struct {
	Stream      string          `json:"stream"`
	Reason      protocol.Reason `json:"reason"`
	Count       int64           `json:"count"`
	MaxAttempts int64           `json:"max_attempt_count"`
	NotBefore   *time.Time      `json:"next_attempt_at"` // the latest floor of the group
	// Earliest is when the first of the group may be tried; nil when one may be at once.
	Earliest *time.Time `json:"earliest_attempt_at"`
}

// Outstanding reports whether the stream has a gap that a later run may fill.
func (g *Gaps) Outstanding(stream string) bool { return g.Waiting(stream) > 0 }

// Waiting counts the gaps of the stream that a later run may fill. It is zero
// also where gaps could not be read.
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

// Whole reports whether the stream speaks for itself, however its run ended: its
// cursor is durable, and all that was considered was covered.
func (f *Fact) Whole() bool {
	return f.Checkpoint == CheckpointCommitted && f.Considered != nil && f.Covered != nil && *f.Covered >= *f.Considered
}

// Silent reports whether nothing is kept of the stream and its newest run said
// nothing about it: no record, no count, no cursor. A run that reads a source to its
// end and finds it empty says so by a count of zero or by its cursor.
func (s *Stream) Silent() bool {
	f := s.Fact
	return f != nil && f.Collected == 0 && f.Considered == nil && f.Covered == nil && f.Checkpoint != CheckpointCommitted &&
		(s.Retained == nil || *s.Retained == 0)
}

// TotalShort reports whether a complete walk listed fewer items than the provider announced.
func (f *Fact) TotalShort() bool { return f.Drift != nil && f.Drift.Total.Short() }

// Short reports whether the run covered less than it considered.
func (f *Fact) Short() bool {
	return f.Considered != nil && f.Covered != nil && *f.Covered < *f.Considered
}
