package health

import (
	"encoding/json"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
)

// Text is a string whose absence is null in JSON.
type Text string

func (t Text) MarshalJSON() ([]byte, error) {
	if t == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(t))
}

// Axes are the dimensions of a connection that are judged apart.
type Axes struct {
	Attention     AttentionAxis `json:"attention"`
	Coverage      Coverage      `json:"coverage"`
	Freshness     Freshness     `json:"freshness"`
	Outbox        Outbox        `json:"outbox"`
	RemoteSurface Surface       `json:"remote_surface"`
}

// Badges are small marks beside the headline.
type Badges struct {
	Stale   bool `json:"stale"`
	Syncing bool `json:"syncing"`
}

// Snapshot is the projection of a connection's conditions.
type Snapshot struct {
	State         State       `json:"state"`
	ReasonCode    Text        `json:"reason_code"`
	DominantID    Text        `json:"dominant_condition_id"`
	SupportingIDs []string    `json:"supporting_condition_ids"`
	Axes          Axes        `json:"axes"`
	Badges        Badges      `json:"badges"`
	Conditions    []Condition `json:"conditions"`
	Disposition   Disposition `json:"forward_disposition"`
	Backlog       *Backlog    `json:"detail_gap_backlog"`
	Rate          *Rate       `json:"collection_rate"`
	LastSuccessAt *time.Time  `json:"last_success_at"`
	NextAttemptAt *time.Time  `json:"next_attempt_at"`
	NextAction    *NextAction `json:"next_action"`
	// UnknownReasons are the families of evidence that could not be read.
	UnknownReasons []string `json:"unknown_reasons"`
}

// Condition finds the condition of a type, or nil.
func (s *Snapshot) Condition(t ConditionType) *Condition {
	for i := range s.Conditions {
		if c := &s.Conditions[i]; c.Kind != nil && c.Type == t {
			return &s.Conditions[i]
		}
	}
	return nil
}

// NextAction is the question that waits for the owner.
type NextAction struct {
	Source      string     `json:"source"` // structured
	AttentionID Text       `json:"attention_id"`
	ReasonCode  Text       `json:"reason_code"`
	Target      Text       `json:"action_target"` // null for a secret
	ExpiresAt   *time.Time `json:"expires_at"`
}

// Backlog sums up what is known to be missing item by item. It is for the
// owner's inspection and moves nothing else.
type Backlog struct {
	Pending             int64      `json:"pending"` // deferred under the source's pressure
	PendingIsFloor      bool       `json:"pending_is_floor"`
	PendingOther        int64      `json:"pending_other"`
	PendingOtherIsFloor bool       `json:"pending_other_is_floor"`
	MaxAttemptCount     int64      `json:"max_attempt_count"`
	NextAttemptAt       *time.Time `json:"next_attempt_at"`
	Recovered           *int64     `json:"recovered"`
	Terminal            *int64     `json:"terminal"`
}

// Rate is the pace of the newest run.
type Rate = evidence.Pace

// StreamRollup is what the evidence says of one stream.
type StreamRollup struct {
	StreamID   string   `json:"stream_id"`
	Priority   Priority `json:"priority"`
	Coverage   Coverage `json:"coverage"`
	Collected  *int64   `json:"collected"`
	Considered *int64   `json:"considered"`
	Retained   *int64   `json:"retained"`
	// Missing is how many items are known to be missing; nil where that was not
	// measured, or cannot be told. It is a floor where gaps are counted: one of
	// them may stand for a stretch of the source.
	Missing        *int64 `json:"missing"`
	MissingIsFloor bool   `json:"missing_is_floor"`
	GapRetryable   bool   `json:"gap_retryable"`
	AsTold         bool   `json:"as_told,omitempty"`
	AttentionOpen  bool   `json:"attention_open"`
	// Absent reports that the source holds nothing of the stream, NotReached that the newest run failed
	// before it, Rejected that single records break the connector's own declaration.
	Absent     bool `json:"absent,omitempty"`
	NotReached bool `json:"not_reached,omitempty"`
	Rejected   bool `json:"rejected,omitempty"`
	// Total is set where the stream is partial for no other reason than the total that the source
	// reports. Whether another run lists more is not known.
	Total *evidence.Total `json:"total,omitempty"`
}

// ProgressEvidence are the signs of progress; the mode tells which one counts.
type ProgressEvidence struct {
	Mode                    Mode       `json:"mode"`
	RetainedRecords         *int64     `json:"retained_records"`
	RecordsCommittedLastRun *int64     `json:"records_committed_last_run"`
	GapsDrainedLastRun      *int64     `json:"gaps_drained_last_run"`
	LastRefreshedAt         *time.Time `json:"last_refreshed_at"`
	// ObservedAt is the moment of the judgement, so that ages need no clock.
	ObservedAt *time.Time `json:"observed_at"`
}

// RefreshEvidence is what the manifest says about who refreshes.
type RefreshEvidence struct {
	RecommendedMode    string `json:"recommended_mode"`
	BackgroundSafe     *bool  `json:"background_safe"`
	InteractionPosture string `json:"interaction_posture"`
}

// ManualOnly reports whether only the owner may start a run.
func (r *RefreshEvidence) ManualOnly() bool {
	return r != nil && (r.BackgroundSafe != nil && !*r.BackgroundSafe || r.RecommendedMode == "manual" || r.RecommendedMode == "paused")
}

// ScheduleEvidence is whether the connection has a rhythm, and ever succeeded.
type ScheduleEvidence struct {
	Mode            ScheduleMode `json:"mode"`
	HasPriorSuccess bool         `json:"has_prior_success"`
	// SourceWaits says that a run would have to wait for the source, whoever starts it.
	SourceWaits bool `json:"source_waits,omitzero"`
}

// LocalProgress is what the owner's devices reported, in numbers and times alone.
type LocalProgress struct {
	LastHeartbeatAt     *time.Time             `json:"last_heartbeat_at"`
	LastHeartbeatStatus Text                   `json:"last_heartbeat_status"`
	LastIngestAt        *time.Time             `json:"last_ingest_at"`
	RecordsPending      *int64                 `json:"records_pending"`
	SourceCount         int                    `json:"source_count"`
	OutboxCounts        *evidence.OutboxCounts `json:"outbox_counts"`
}

// Assessment is the projection with everything that a verdict is made from.
type Assessment struct {
	Snapshot Snapshot          `json:"snapshot"`
	Streams  []StreamRollup    `json:"streams"`
	Refresh  *RefreshEvidence  `json:"refresh"`
	Progress *ProgressEvidence `json:"progress"`
	Schedule *ScheduleEvidence `json:"schedule"`
	Local    *LocalProgress    `json:"local_device_progress"`
	Rule     Rule              `json:"-"` // the snapshot's headline comes from it
}

// Rule is what decided: its name, and when it applies.
type Rule struct{ Name, When string }
