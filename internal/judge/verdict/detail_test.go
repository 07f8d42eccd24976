package verdict

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/judge/health"
)

func TestDrainedConnectorShowsNoGapCount(t *testing.T) {
	t.Attr("spec", "CH-27.1")
	in := healthy(func(in *Input) {
		in.Snapshot.Backlog = &health.Backlog{Recovered: ptr[int64](7341)}
		in.Progress.Mode = health.ModeScheduled
	})
	v := judge(t, in)
	wantPill(t, v, Green, "Healthy")
	wantChannel(t, v, Calm)
	wantActions(t, v)
	wantFreshnessNote(t, v, "Refreshed today")
	for _, text := range []string{v.ForwardStatement, v.Annotations[0].Text, v.Pill.Label} {
		if strings.ContainsAny(text, "0123456789") {
			t.Errorf("%q holds a number", text)
		}
	}
	if *v.Detail.Backlog.Recovered != 7341 {
		t.Errorf("detail %+v", v.Detail)
	}
}

func TestSuppressedEvidenceIsInDetail(t *testing.T) {
	t.Attr("spec", "CH-27.2")
	in := healthy(state(health.CoolingOff), gap(health.RetryableGap, health.DispositionResumable), syncing,
		func(in *Input) {
			s := &in.Snapshot
			s.NextAttemptAt, s.ReasonCode, s.DominantID = daysAgo(-1), "source_pressure", "RetryPolicyClear:source_pressure"
			s.Backlog = &health.Backlog{Pending: 40, PendingOther: 2, MaxAttemptCount: 3, NextAttemptAt: daysAgo(-1)}
			s.Rate = &health.RunPace{CurrentIntervalMS: 900, CeilingIntervalMS: 250}
		})
	v := judge(t, in)
	s, d := in.Snapshot, v.Detail
	if d.State != s.State || d.ReasonCode != s.ReasonCode || d.DominantID != s.DominantID ||
		d.Disposition != s.Disposition ||
		!reflect.DeepEqual(d.Conditions, s.Conditions) || d.Backlog != s.Backlog || d.NextAttemptAt != s.NextAttemptAt ||
		d.Rate != s.Rate {
		t.Errorf("detail %+v", d)
	}
	want := []Suppressed{
		{SuppressedCooldown, "next_attempt_at", "next_attempt_planned"},
		{SuppressedDrain, "detail_gap_backlog", "gaps_wait_for_a_run"},
		{SuppressedSyncing, "conditions", "run_active"},
	}
	if !slices.Equal(d.Suppressed, want) {
		t.Errorf("suppressed %+v", d.Suppressed)
	}
	if !slices.Equal(v.Trace.SuppressedEvidence,
		[]SuppressedKind{SuppressedCooldown, SuppressedDrain, SuppressedSyncing}) {
		t.Errorf("trace %+v", v.Trace)
	}

	pausing := judge(t, healthy(state(health.CoolingOff)))
	if got := pausing.Detail.Suppressed; !slices.Equal(got,
		[]Suppressed{{SuppressedCooldown, "conditions", "backoff_active"}}) {
		t.Errorf("suppressed %+v", got)
	}
	fault := healthy(credentialRejected)
	fault.RuntimeOK = false
	if got := judge(t, fault).Detail.Suppressed; !slices.Equal(got,
		[]Suppressed{{SuppressedRuntimeFault, "conditions", "runtime_fault_capped_channel"}}) {
		t.Errorf("suppressed %+v", got)
	}
}

func TestCalmAndAdvisoryNotesHoldNoCounts(t *testing.T) {
	t.Attr("spec", "CH-27.3")
	backlog := func(in *Input) { in.Snapshot.Backlog = &health.Backlog{Pending: 40, MaxAttemptCount: 3} }
	uploading := func(in *Input) { in.Snapshot.Axes.Outbox = health.OutboxActive }
	unknownAge := func(in *Input) { in.Progress.LastRefreshedAt, in.Snapshot.LastSuccessAt = nil, nil }
	for name, c := range map[string]struct {
		in   Input
		want []Annotation
	}{
		"fresh": {healthy(backlog, freshness(health.Fresh, 1)),
			[]Annotation{{KindFreshness, "Refreshed yesterday"}}},
		"fresh, running":  {healthy(backlog, syncing), []Annotation{{KindFreshness, "Refreshed today"}}},
		"running, no age": {healthy(syncing, unknownAge), []Annotation{{KindActivity, "A run is under way"}}},
		"uploading": {healthy(uploading, unknownAge),
			[]Annotation{{KindActivity, "The device is uploading saved records"}}},
		"nothing to say": {healthy(unknownAge), []Annotation{}},
		"drain": {healthy(backlog, state(health.Degraded), gap(health.Partial, health.DispositionResumable)),
			[]Annotation{{KindFreshness, "Last successful refresh today"}}},
		"coverage unknown": {healthy(gap(health.CoverageUnknown, health.DispositionChecking)),
			[]Annotation{{KindFreshness, "Last successful refresh today"}}},
		"stale, scheduled": {healthy(state(health.Degraded), freshness(health.Stale, 1234)),
			[]Annotation{{KindFreshness, "Last successful refresh 1,234 days ago"}}},
		"stale, no age": {healthy(state(health.Degraded), freshness(health.Stale, 1), unknownAge),
			[]Annotation{{KindFreshness, "Last successful refresh: time not known"}}},
		"from the future": {healthy(freshness(health.Stale, -3)),
			[]Annotation{{KindFreshness, "Last successful refresh: time not known"}}},
		"schedule off": {healthy(state(health.Idle), func(in *Input) { in.Schedule.Mode = health.SchedulePaused }),
			[]Annotation{{KindFreshness, "Refreshed today"}, {KindSchedule, "The schedule is off"}}},
		"attention may say more": {healthy(stalled("outbox_stale_pending"), gap(health.Partial, health.DispositionResumable)),
			[]Annotation{{KindFreshness, "Last successful refresh today"}, {KindOutbox, "Saved records are not uploading"},
				{KindCoverage, "Some data is missing"}}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := judge(t, c.in).Annotations; !slices.Equal(got, c.want) {
				t.Errorf("notes %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestCountIn(t *testing.T) {
	for text, want := range map[string]bool{
		"Refreshed 3 days ago": false, "Refreshed today": false, "40 gaps pending": true,
		"Refreshed 3 days ago, 2 left": true,
	} {
		if countIn(text) != want {
			t.Errorf("countIn(%q) is %t", text, !want)
		}
	}
}
