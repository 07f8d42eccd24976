package verdict

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/health"
)

// observed is the moment of every judgement in these tests.
var observed = time.Date(2026, 3, 12, 9, 30, 0, 0, time.UTC)

func daysAgo(n int) *time.Time {
	at := observed.AddDate(0, 0, -n)
	return &at
}

func ptr[T any](v T) *T { return &v }

// healthy is a scheduled connection with three complete streams. Each change
// turns it into the case at hand.
func healthy(changes ...func(*Input)) Input {
	in := Input{
		Snapshot: health.Snapshot{
			State: health.Healthy,
			Axes: health.Axes{
				Attention: health.AttentionNone, Coverage: health.Complete, Freshness: health.Fresh,
				Outbox: health.OutboxUnknown, RemoteSurface: health.SurfaceNone,
			},
			Conditions: []health.Condition{
				condition(health.ProjectionReliable, health.True, health.Info, "projection_current"),
				condition(health.CollectionSucceeded, health.True, health.Info, "collection_succeeded"),
				condition(health.CredentialsValid, health.True, health.Info, "credentials_accepted"),
			},
			Disposition: health.DispositionComplete, LastSuccessAt: daysAgo(0),
		},
		Streams: []health.StreamRollup{stream("messages", health.Complete), stream("people", health.Complete),
			stream("files", health.Complete)},
		Refresh: &health.RefreshEvidence{RecommendedMode: "scheduled", BackgroundSafe: ptr(true)},
		Progress: &health.ProgressEvidence{
			Mode: health.ModeScheduled, RetainedRecords: ptr[int64](1204), RecordsCommittedLastRun: ptr[int64](12),
			LastRefreshedAt: daysAgo(0), ObservedAt: &observed,
		},
		Schedule:  &health.ScheduleEvidence{Mode: health.ScheduleActive, HasPriorSuccess: true},
		RuntimeOK: true,
	}
	for _, change := range changes {
		change(&in)
	}
	return in
}

func stream(id string, c health.Coverage) health.StreamRollup {
	return health.StreamRollup{StreamID: id, Priority: health.RequiredStream, Coverage: c}
}

func condition(t health.ConditionType, s health.Status, v health.Severity, reason string) health.Condition {
	return health.Condition{ConditionKind: &health.ConditionKind{ID: string(t) + ":" + reason, Type: t, Status: s,
		Severity: v,
		Reason:   reason}, Current: true}
}

func state(s health.State) func(*Input) { return func(in *Input) { in.Snapshot.State = s } }

func freshness(f health.Freshness, days int) func(*Input) {
	return func(in *Input) {
		in.Snapshot.Axes.Freshness = f
		in.Snapshot.LastSuccessAt, in.Progress.LastRefreshedAt = daysAgo(days), daysAgo(days)
	}
}

// gap sets the coverage of the first stream, and the disposition of the connection accordingly.
func gap(c health.Coverage, d health.Disposition) func(*Input) {
	return func(in *Input) {
		in.Snapshot.Axes.Coverage, in.Snapshot.Disposition = c, d
		in.Streams[0].Coverage = c
	}
}

func fails(t health.ConditionType, v health.Severity, reason string) func(*Input) {
	return func(in *Input) {
		in.Snapshot.Conditions = slices.DeleteFunc(in.Snapshot.Conditions,
			func(c health.Condition) bool { return c.Type == t })
		in.Snapshot.Conditions = append(in.Snapshot.Conditions, condition(t, health.False, v, reason))
	}
}

func credentialRejected(in *Input) {
	in.Snapshot.State = health.Blocked
	fails(health.CredentialsValid, health.BlockedSeverity, "credential_rejected")(in)
}

// manual makes the owner the only one who starts runs.
func manual(in *Input) {
	in.Refresh = &health.RefreshEvidence{RecommendedMode: "manual", BackgroundSafe: ptr(false),
		InteractionPosture: "owner_present"}
	in.Schedule = &health.ScheduleEvidence{Mode: health.NoSchedule, HasPriorSuccess: true}
	in.Progress.Mode = health.ModeManual
}

func staleManual(in *Input) {
	manual(in)
	freshness(health.Stale, 9)(in)
	in.Snapshot.State, in.Snapshot.Disposition = health.Idle, health.DispositionOwnerRefreshDue
}

func noSchedule(in *Input) { in.Schedule = nil; in.Progress.Mode = health.ModeManual }
func syncing(in *Input)    { in.Snapshot.Badges.Syncing = true }

// stalled is a device that no longer uploads, for a reason of the exporter.
func stalled(reason string) func(*Input) {
	return func(in *Input) {
		in.Snapshot.State = health.Degraded
		in.Snapshot.Axes.Outbox = health.OutboxStalled
		in.Progress.Mode, in.Schedule = health.ModeLocalDevice, nil
		if reason != "" {
			fails(conditionOf(reason), health.Error, reason)(in)
		}
	}
}

func conditionOf(reason string) health.ConditionType {
	if strings.HasPrefix(reason, "outbox_") {
		return health.BacklogClear
	}
	return health.LocalExporterAvailable
}

// judge synthesizes and holds the verdict to the invariants.
func judge(t *testing.T, in Input) Verdict {
	t.Helper()
	v := Synthesize(in)
	if err := CheckVerdict(in, v); err != nil {
		t.Fatalf("invariants: %v\n%+v", err, v)
	}
	return v
}

func wantPill(t *testing.T, v Verdict, tone Tone, label string) {
	t.Helper()
	if v.Pill != (Pill{tone, label}) {
		t.Errorf("pill %+v, want %s %s", v.Pill, tone, label)
	}
}

func wantChannel(t *testing.T, v Verdict, c Channel) {
	t.Helper()
	if v.Channel != c {
		t.Errorf("channel %s, want %s (actions %+v)", v.Channel, c, v.RequiredActions)
	}
}

func wantActions(t *testing.T, v Verdict, kinds ...ActionKind) {
	t.Helper()
	var got []ActionKind
	for _, a := range v.RequiredActions {
		got = append(got, a.Kind)
	}
	if !slices.Equal(got, kinds) {
		t.Errorf("actions %v, want %v", got, kinds)
	}
}

func wantFreshnessNote(t *testing.T, v Verdict, text string) {
	t.Helper()
	for _, a := range v.Annotations {
		if a.Kind == KindFreshness {
			if a.Text != text {
				t.Errorf("freshness note %q, want %q", a.Text, text)
			}
			return
		}
	}
	t.Errorf("no freshness note in %+v", v.Annotations)
}

func wantNone(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if strings.Contains(strings.ToLower(text), w) {
			t.Errorf("%q says %q", text, w)
		}
	}
}

// sourceWaits makes the source not available for requests yet.
func sourceWaits(in *Input) {
	state(health.CoolingOff)(in)
	fails(health.RetryPolicyClear, health.Warning, health.ReasonPressure)(in)
	in.Snapshot.ReasonCode = health.ReasonPressure
	if in.Schedule == nil {
		in.Schedule = &health.ScheduleEvidence{Mode: health.NoSchedule, HasPriorSuccess: true}
	}
	in.Schedule.SourceWaits = true
}
