package health

import (
	"encoding/json"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
)

// Text is a string that is null in JSON if empty.
type Text string

// MarshalJSON implements json.Marshaler.
func (t Text) MarshalJSON() ([]byte, error) {
	if t == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(t))
}

// Axes are the separately judged dimensions of a connection.
type Axes struct {
	Attention     AttentionAxis `json:"attention"`
	Coverage      Coverage      `json:"coverage"`
	Freshness     Freshness     `json:"freshness"`
	Outbox        Outbox        `json:"outbox"`
	RemoteSurface Surface       `json:"remote_surface"`
}

// Badges are marks shown beside the headline.
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
	Rate          *RunPace    `json:"collection_rate"`
	LastSuccessAt *time.Time  `json:"last_success_at"`
	NextAttemptAt *time.Time  `json:"next_attempt_at"`
	NextAction    *NextAction `json:"next_action"`
	// UnknownReasons are the families of evidence that could not be read.
	UnknownReasons []string `json:"unknown_reasons"`
}

// Condition returns the condition of a type, or nil.
func (s *Snapshot) Condition(t ConditionType) *Condition {
	for i := range s.Conditions {
		if c := &s.Conditions[i]; c.ConditionKind != nil && c.Type == t {
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

// Backlog summarizes the items known to be missing. It is shown to the owner and decides nothing.
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

// RunPace is the pace of the newest run.
type RunPace = evidence.Pace

// StreamRollup summarizes the evidence about one stream.
type StreamRollup struct {
	StreamID   string   `json:"stream_id"`
	Priority   Priority `json:"priority"`
	Coverage   Coverage `json:"coverage"`
	Collected  *int64   `json:"collected"`
	Considered *int64   `json:"considered"`
	Retained   *int64   `json:"retained"`
	// Missing is how many items are known to be missing; nil if unknown. It is a lower bound if gaps are counted,
	// because one gap may cover a range of items.
	Missing        *int64 `json:"missing"`
	MissingIsFloor bool   `json:"missing_is_floor"`
	GapRetryable   bool   `json:"gap_retryable"`
	SelfReported   bool   `json:"as_told,omitempty"`
	AttentionOpen  bool   `json:"attention_open"`
	// Absent means that the source has nothing for the stream, NotReached that the newest run failed before it, Rejected
	// that single records violate the connector's own declaration.
	Absent     bool `json:"absent,omitempty"`
	NotReached bool `json:"not_reached,omitempty"`
	Rejected   bool `json:"rejected,omitempty"`
	// Total is set if the stream is partial only because of the total that the source reports. It is unknown whether
	// another run lists more.
	Total *evidence.Total `json:"total,omitempty"`
}

// ProgressEvidence holds the signs of progress; Mode decides which one counts.
type ProgressEvidence struct {
	Mode                    Mode       `json:"mode"`
	RetainedRecords         *int64     `json:"retained_records"`
	RecordsCommittedLastRun *int64     `json:"records_committed_last_run"`
	GapsDrainedLastRun      *int64     `json:"gaps_drained_last_run"`
	LastRefreshedAt         *time.Time `json:"last_refreshed_at"`
	// ObservedAt is the time of the judgement, so that ages need no clock.
	ObservedAt *time.Time `json:"observed_at"`
}

// RefreshEvidence is the manifest's declaration of who starts refreshes.
type RefreshEvidence struct {
	RecommendedMode    string `json:"recommended_mode"`
	BackgroundSafe     *bool  `json:"background_safe"`
	InteractionPosture string `json:"interaction_posture"`
}

// ManualOnly reports whether only the owner may start a run.
func (r *RefreshEvidence) ManualOnly() bool {
	return r != nil && (r.BackgroundSafe != nil && !*r.BackgroundSafe || r.RecommendedMode == "manual" ||
		r.RecommendedMode == "paused")
}

// ScheduleEvidence is whether the connection has a schedule and ever succeeded.
type ScheduleEvidence struct {
	Mode            ScheduleMode `json:"mode"`
	HasPriorSuccess bool         `json:"has_prior_success"`
	// SourceWaits means that any run would have to wait for the source.
	SourceWaits bool `json:"source_waits,omitzero"`
}

// LocalProgress is what the owner's devices reported, as counts and times only.
type LocalProgress struct {
	LastHeartbeatAt     *time.Time             `json:"last_heartbeat_at"`
	LastHeartbeatStatus Text                   `json:"last_heartbeat_status"`
	LastIngestAt        *time.Time             `json:"last_ingest_at"`
	RecordsPending      *int64                 `json:"records_pending"`
	SourceCount         int                    `json:"source_count"`
	OutboxCounts        *evidence.OutboxCounts `json:"outbox_counts"`
}

// Assessment is the projection with all input of a verdict.
type Assessment struct {
	Snapshot Snapshot          `json:"snapshot"`
	Streams  []StreamRollup    `json:"streams"`
	Refresh  *RefreshEvidence  `json:"refresh"`
	Progress *ProgressEvidence `json:"progress"`
	Schedule *ScheduleEvidence `json:"schedule"`
	Local    *LocalProgress    `json:"local_device_progress"`
	Rule     Rule              `json:"-"` // the rule that decided the headline
}

// Rule is the name of a rule and when it applies.
type Rule struct{ Name, When string }
