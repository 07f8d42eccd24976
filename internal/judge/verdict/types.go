package verdict

import (
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/health"
)

// Input is everything that a verdict depends on.
type Input struct {
	Snapshot health.Snapshot          `json:"snapshot"`
	Streams  []health.StreamRollup    `json:"streams"`
	Refresh  *health.RefreshEvidence  `json:"refresh"`
	Progress *health.ProgressEvidence `json:"progress"`
	Schedule *health.ScheduleEvidence `json:"schedule"`
	// RuntimeOK is false if the runtime that serves all connections is itself the fault.
	RuntimeOK bool `json:"runtime_ok"`
	// SignsIn means that the owner signs in at the source in a browser on this server instead of entering a credential.
	SignsIn bool `json:"signs_in,omitempty"`
}

// Verdict is the judgement that every client of the owner shows.
type Verdict struct {
	Pill             Pill             `json:"pill"`
	Channel          Channel          `json:"channel"`
	Annotations      []Annotation     `json:"annotations"`
	ForwardStatement string           `json:"forward_statement"`
	Outline          Outline          `json:"outline"`
	RequiredActions  []RequiredAction `json:"required_actions"` // the most urgent first
	Streams          []StreamRow      `json:"streams"`
	Progress         Progress         `json:"progress"`
	// Detail and Trace are for the owner's inspection only.
	Detail Detail `json:"detail"`
	Trace  Trace  `json:"trace"`
}

// Tone is how collection is doing.
type Tone string

const (
	Green Tone = "green"
	Grey  Tone = "grey"
	Amber Tone = "amber"
	Red   Tone = "red"
)

// Pill is a tone with its label.
type Pill struct {
	Tone  Tone   `json:"tone"`
	Label string `json:"label"`
}

// Channel is whether the owner is needed.
type Channel string

const (
	Calm      Channel = "calm"
	Advisory  Channel = "advisory"
	Attention Channel = "attention"
)

// AnnotationKind is the subject of an annotation.
type AnnotationKind string

const (
	KindActivity  AnnotationKind = "activity"
	KindAttention AnnotationKind = "attention"
	KindCoverage  AnnotationKind = "coverage"
	KindFreshness AnnotationKind = "freshness"
	KindOutbox    AnnotationKind = "outbox"
	KindSchedule  AnnotationKind = "schedule"
)

// Annotation is a note beside the pill.
type Annotation struct {
	Kind AnnotationKind `json:"kind"`
	Text string         `json:"text"`
}

// ActionKind is what to do.
type ActionKind string

const (
	Reauth           ActionKind = "reauth"
	RefreshNow       ActionKind = "refresh_now"
	ReattachSchedule ActionKind = "reattach_schedule"
	AddInfo          ActionKind = "add_info"
	RetryGap         ActionKind = "retry_gap"
	Backfill         ActionKind = "backfill"
	WaitAction       ActionKind = "wait"
	CodeFix          ActionKind = "code_fix"
	ContactSupport   ActionKind = "contact_support"
)

// Audience is who can do it.
type Audience string

const (
	AudienceOwner      Audience = "owner"
	AudienceMaintainer Audience = "maintainer"
	AudienceNone       Audience = "none"
)

// Urgency is how soon, most urgent first.
type Urgency string

const (
	Now       Urgency = "now"
	Overdue   Urgency = "overdue"
	Soon      Urgency = "soon"
	Verifying Urgency = "verifying"
)

// Contract names the evidence that proves an action done.
type Contract string

const (
	CredentialPresent    Contract = "credential_present_and_unrejected"
	ScheduleAttached     Contract = "schedule_attached_and_enabled"
	AttentionResolved    Contract = "attention_resolved"
	ConfirmingRun        Contract = "confirming_run_succeeded"
	GapRecovered         Contract = "gap_recovered"
	BackfillCovered      Contract = "backfill_window_covered"
	NothingSatisfiesThis Contract = "none"
)

// Satisfaction is how a completed action is recognized.
type Satisfaction struct {
	Kind Contract `json:"kind"`
}

// RequiredAction is a step without which the connection does not collect all its data.
type RequiredAction struct {
	Kind          ActionKind   `json:"kind"`
	Audience      Audience     `json:"audience"`
	Urgency       Urgency      `json:"urgency"`
	Affects       []string     `json:"affects"` // stream ids
	CTA           string       `json:"cta"`
	Terminal      bool         `json:"terminal"` // exactly when the disposition is terminal
	SatisfiedWhen Satisfaction `json:"satisfied_when"`
	Remediation   *Remediation `json:"remediation,omitempty"`
}

// OwnerSatisfiable reports whether the owner can take the action and the system can observe that.
func (a *RequiredAction) OwnerSatisfiable() bool {
	return a.Audience == AudienceOwner && a.SatisfiedWhen.Kind != NothingSatisfiesThis
}

// Remediation is what to run on the machine that holds the data.
type Remediation struct {
	Kind     string    `json:"kind"` // local_collector_recovery
	Cause    string    `json:"cause"`
	Label    string    `json:"label"`
	Summary  string    `json:"summary"`
	Target   Target    `json:"target"`
	Commands []Command `json:"commands"`
}

// Target is where clients find the identity for the commands.
type Target struct {
	Kind           string `json:"kind"`            // local_device
	IdentitySource string `json:"identity_source"` // source_instance_bindings
}

// Command is a command line with a placeholder for the source instance.
type Command struct {
	Kind     string `json:"kind"`
	Label    string `json:"label"`
	Purpose  string `json:"purpose"`
	Template string `json:"command_template"`
}

// SourceInstancePlaceholder is replaced by the id of exactly one enrolled source instance, never by the connection's
// id.
const SourceInstancePlaceholder = "<source-instance-id>"

// StreamRow is one stream of the connection.
type StreamRow struct {
	StreamID    string             `json:"stream_id"`
	Coverage    health.Coverage    `json:"coverage"`
	Disposition health.Disposition `json:"disposition"`
	Collected   *int64             `json:"collected"` // never above Considered
	Considered  *int64             `json:"considered"`
	// Kept is the number of stored records, Missing the number of items known to be missing, and Found their sum; nil if
	// unknown. Floor means that Found and Missing are lower bounds.
	Kept      *int64 `json:"kept"`
	Found     *int64 `json:"found"`    // stored and missing together
	Missing   *int64 `json:"missing"`  // null means not known
	Floor     bool   `json:"is_floor"` // found and missing may be more
	Statement string `json:"statement"`
	ActionRef *int   `json:"action_ref"` // index into RequiredActions
	// Total is set if only the total that the source reports disagrees.
	Total *evidence.Total `json:"total,omitempty"`
}

// Progress is the sign of progress that fits how the connection collects.
type Progress struct {
	Mode                    health.Mode `json:"mode"`
	Headline                string      `json:"headline"`
	RetainedRecords         *int64      `json:"retained_records"`
	RecordsCommittedLastRun *int64      `json:"records_committed_last_run"`
	GapsDrainedLastRun      *int64      `json:"gaps_drained_last_run"`
	LastRefreshedAt         *time.Time  `json:"last_refreshed_at"`
	// FirstRun means that the connection's first run is in progress.
	FirstRun bool `json:"first_run"`
}

// Detail contains what the attention layer leaves out.
type Detail struct {
	State         health.State       `json:"state"`
	ReasonCode    health.Text        `json:"reason_code"`
	DominantID    health.Text        `json:"dominant_condition_id"`
	Disposition   health.Disposition `json:"forward_disposition"`
	Conditions    []health.Condition `json:"conditions"`
	Backlog       *health.Backlog    `json:"detail_gap_backlog"`
	NextAttemptAt *time.Time         `json:"next_attempt_at"`
	Rate          *health.RunPace    `json:"collection_rate"`
	Suppressed    []Suppressed       `json:"suppressed"`
}

// Suppressed is a signal that the system handles without the owner.
type Suppressed struct {
	Kind        SuppressedKind `json:"kind"`
	DetailField string         `json:"detail_field"` // the member of Detail that contains it
	Reason      string         `json:"reason"`
}

// SuppressedKind is the kind of a suppressed signal.
type SuppressedKind string

const (
	SuppressedCooldown     SuppressedKind = "cooldown"
	SuppressedDrain        SuppressedKind = "drain"
	SuppressedRuntimeFault SuppressedKind = "runtime_fault"
	SuppressedSyncing      SuppressedKind = "syncing"
)

// Trace explains why the verdict is what it is.
type Trace struct {
	ToneInputs         []ToneInput      `json:"tone_inputs"`
	ToneCause          string           `json:"tone_cause"`    // the input that set the tone
	ChannelCause       string           `json:"channel_cause"` // the action that set the channel
	RuntimeCapped      bool             `json:"runtime_capped"`
	PrimaryActionKind  *ActionKind      `json:"primary_action_kind"`
	SatisfiedWhen      *Contract        `json:"satisfied_when"`
	SuppressedEvidence []SuppressedKind `json:"suppressed_evidence"`
	DetailDestinations []string         `json:"detail_destinations"`
}

// ToneInput is one vote on the tone.
type ToneInput struct {
	Axis string `json:"axis"` // state, freshness, coverage, disposition, attention, outbox
	Tone Tone   `json:"tone"`
}

// Push reports whether the verdict may be pushed: the owner is needed and can take the first action.
func (v *Verdict) Push() bool {
	return v.Channel == Attention && len(v.RequiredActions) > 0 && v.RequiredActions[0].OwnerSatisfiable()
}
