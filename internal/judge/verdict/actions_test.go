package verdict

import (
	"slices"
	"testing"

	"github.com/pdpp-go/pdpp/internal/judge/health"
)

func TestTerminalFlagFollowsTheDisposition(t *testing.T) {
	t.Attr("spec", "CH-25.1")
	asked := func(in *Input) {
		in.Snapshot.Axes.Attention = health.AttentionOpen
		in.Streams[1].Coverage, in.Streams[1].AttentionOpen = health.Partial, true
	}
	lost := judge(t, healthy(gap(health.TerminalGap, health.DispositionTerminal)))
	wantActions(t, lost, CodeFix)
	if !lost.RequiredActions[0].Terminal || !slices.Equal(lost.RequiredActions[0].Affects, []string{"messages"}) {
		t.Errorf("action %+v", lost.RequiredActions[0])
	}
	for name, in := range map[string]Input{
		"stale": healthy(staleManual), "rejected": healthy(credentialRejected), "asked": healthy(asked),
		"gap": healthy(gap(health.Partial, health.DispositionResumable)),
	} {
		for _, a := range judge(t, in).RequiredActions {
			if a.Terminal {
				t.Errorf("%s: %s is terminal", name, a.Kind)
			}
		}
	}
	t.Run("two streams, two answers", func(t *testing.T) {
		v := judge(t, healthy(gap(health.TerminalGap, health.DispositionTerminal), asked))
		wantActions(t, v, AddInfo, CodeFix)
		if v.RequiredActions[0].Terminal || !v.RequiredActions[1].Terminal {
			t.Errorf("actions %+v", v.RequiredActions)
		}
		if *v.Streams[0].ActionRef != 1 || *v.Streams[1].ActionRef != 0 || v.Streams[2].ActionRef != nil {
			t.Errorf("rows %+v", v.Streams)
		}
	})
}

func TestTwoActionsAreOrderedByUrgency(t *testing.T) {
	t.Attr("spec", "CH-25.2")
	v := judge(t, healthy(staleManual, credentialRejected))
	wantActions(t, v, Reauth, RefreshNow)
	if v.RequiredActions[0].Urgency != Now || v.RequiredActions[1].Urgency != Soon {
		t.Errorf("actions %+v", v.RequiredActions)
	}
	if *v.Trace.PrimaryActionKind != Reauth || *v.Trace.SatisfiedWhen != CredentialPresent ||
		v.Trace.ChannelCause != "reauth" {
		t.Errorf("trace %+v", v.Trace)
	}
}

func TestSelfHandledDrainIsOneCalmWait(t *testing.T) {
	t.Attr("spec", "CH-25.3")
	v := judge(t, healthy(state(health.Degraded), gap(health.RetryableGap, health.DispositionResumable), func(in *Input) {
		in.Snapshot.Backlog = &health.Backlog{Pending: 1500, PendingIsFloor: true}
	}))
	wantActions(t, v, WaitAction)
	wantChannel(t, v, Calm)
	a := v.RequiredActions[0]
	if a.Audience != AudienceNone || a.SatisfiedWhen.Kind != NothingSatisfiesThis || a.Urgency != Verifying ||
		a.OwnerSatisfiable() {
		t.Errorf("action %+v", a)
	}
}

// TestActionsOfEachSituation walks the rules of the table and their borders.
func TestActionsOfEachSituation(t *testing.T) {
	t.Attr("spec", "CH-25")
	resumable := gap(health.RetryableGap, health.DispositionResumable)
	paused := func(in *Input) { in.Schedule.Mode = health.SchedulePaused }
	scheduleOn := func(in *Input) { in.Schedule.Mode = health.ScheduleActive }
	neverRan := func(in *Input) { in.Schedule.HasPriorSuccess = false }
	surface := fails(health.RemoteSurfaceAvailable, health.Error, "remote_surface_failed")
	unread := fails(health.ProjectionReliable, health.BlockedSeverity, "projection_unreliable")
	nextAttempt := func(in *Input) { in.Snapshot.NextAttemptAt = daysAgo(-1) }
	unscheduled := func(in *Input) { in.Schedule = nil }
	for name, c := range map[string]struct {
		in      Input
		kinds   []ActionKind
		channel Channel
	}{
		"healthy": {healthy(), nil, Calm},
		"running": {healthy(syncing), nil, Calm},
		"rejected, also asked": {healthy(credentialRejected,
			func(in *Input) { in.Snapshot.Axes.Attention = health.AttentionOpen }), []ActionKind{Reauth}, Attention},
		"rejected and terminal": {healthy(credentialRejected,
			gap(health.TerminalGap, health.DispositionTerminal)), []ActionKind{Reauth}, Attention},
		"stale manual, running": {healthy(staleManual, syncing), nil, Calm},
		"stale manual, terminal": {healthy(staleManual, gap(health.TerminalGap, health.DispositionTerminal)),
			[]ActionKind{CodeFix}, Advisory},
		"schedule off":               {healthy(state(health.Idle), paused), []ActionKind{ReattachSchedule}, Advisory},
		"schedule off, stale manual": {healthy(staleManual, paused), []ActionKind{RefreshNow}, Advisory},
		"paused by the owner, stale manual": {healthy(staleManual, paused,
			fails(health.ScheduleEligible, health.Info, "schedule_paused")), []ActionKind{ReattachSchedule}, Advisory},
		"gap, manual, schedule on": {healthy(state(health.Degraded), resumable, manual, scheduleOn),
			[]ActionKind{RetryGap}, Advisory},
		"schedule off, gap": {healthy(state(health.Idle), paused, resumable), []ActionKind{ReattachSchedule},
			Advisory},
		"schedule off, never ran": {healthy(state(health.Idle), paused, neverRan), nil, Calm},
		"schedule off, rejected":  {healthy(credentialRejected, paused), []ActionKind{Reauth}, Attention},
		"gap, scheduled":          {healthy(state(health.Degraded), resumable), []ActionKind{WaitAction}, Calm},
		"gap, manual": {healthy(state(health.Degraded), resumable, manual), []ActionKind{RetryGap},
			Advisory},
		"gap, manual, next attempt": {healthy(state(health.Degraded), resumable, manual, nextAttempt),
			[]ActionKind{RetryGap}, Advisory},
		"gap, manual, running": {healthy(state(health.Degraded), resumable, manual, syncing),
			[]ActionKind{WaitAction}, Calm},
		"gap, no schedule": {healthy(state(health.Degraded), resumable, noSchedule), []ActionKind{RetryGap},
			Advisory},
		"gap, no schedule, next attempt": {healthy(state(health.Degraded), resumable, noSchedule, nextAttempt),
			[]ActionKind{WaitAction}, Calm},
		"gap, no evidence of the schedule": {healthy(state(health.Degraded), resumable, unscheduled),
			[]ActionKind{WaitAction}, Calm},
		"gap, stale and healthy": {healthy(resumable, freshness(health.Stale, 3)), []ActionKind{RetryGap},
			Advisory},
		"gap, stale manual": {healthy(staleManual, state(health.Degraded), resumable),
			[]ActionKind{RetryGap}, Advisory},
		"gap, freshness unknown": {healthy(state(health.Degraded), resumable,
			freshness(health.FreshnessUnknown, 0)), []ActionKind{RetryGap}, Advisory},
		"gap, given up": {healthy(state(health.Blocked), resumable, nextAttempt), []ActionKind{RetryGap},
			Advisory},
		"gap, stalled, stale": {healthy(stalled("outbox_stale_pending"), resumable,
			freshness(health.Stale, 3)), []ActionKind{AddInfo}, Attention},
		"schedule off, stale gap": {healthy(state(health.Idle), paused, resumable, freshness(health.Stale, 3)),
			[]ActionKind{ReattachSchedule}, Advisory},
		"gap, stale, running": {healthy(state(health.Degraded), resumable, freshness(health.Stale, 3),
			syncing), []ActionKind{WaitAction}, Calm},
		"gap, cooling off": {healthy(state(health.CoolingOff), resumable, noSchedule),
			[]ActionKind{WaitAction}, Calm},
		"gap, under pressure": {healthy(state(health.Degraded), resumable, noSchedule,
			func(in *Input) { in.Snapshot.ReasonCode = "source_pressure" }), []ActionKind{WaitAction}, Calm},
		"gap, manual, source waits":      {healthy(resumable, manual, sourceWaits), []ActionKind{WaitAction}, Calm},
		"gap, no schedule, source waits": {healthy(resumable, noSchedule, sourceWaits), []ActionKind{WaitAction}, Calm},
		"gap, scheduled, source waits":   {healthy(sourceWaits, resumable, nextAttempt), []ActionKind{WaitAction}, Calm},
		"stale gap, source waits": {healthy(sourceWaits, state(health.Degraded), resumable,
			freshness(health.Stale, 3)), []ActionKind{RetryGap}, Advisory},
		"awaiting, and the axis says none": {healthy(state(health.Degraded),
			func(in *Input) { in.Snapshot.Disposition = health.DispositionAwaitingOwner }), []ActionKind{AddInfo}, Attention},
		"unread by its reasons, gap": {healthy(state(health.Unknown), resumable,
			func(in *Input) { in.Snapshot.UnknownReasons = []string{"runs"} }), nil, Calm},
		"cooling off": {healthy(state(health.CoolingOff), nextAttempt), []ActionKind{WaitAction},
			Calm},
		"stale by schedule": {healthy(state(health.Degraded), freshness(health.Stale, 3)), nil, Calm},
		"stale, no schedule": {healthy(state(health.Degraded), freshness(health.Stale, 3), noSchedule),
			[]ActionKind{RefreshNow}, Advisory},
		"failed, no schedule": {healthy(state(health.Degraded), noSchedule,
			fails(health.CollectionSucceeded, health.Warning, "collection_failed")), []ActionKind{RefreshNow}, Advisory},
		"degraded by something else": {healthy(state(health.Degraded), noSchedule), nil, Calm},
		"stale, no schedule, running": {healthy(state(health.Degraded), freshness(health.Stale, 3), noSchedule,
			syncing), nil, Calm},
		"given up": {healthy(state(health.Blocked),
			fails(health.RetryPolicyClear, health.BlockedSeverity, "scheduler_gave_up")), []ActionKind{RefreshNow}, Advisory},
		"tool missing": {healthy(state(health.Blocked),
			fails(health.RuntimeAvailable, health.BlockedSeverity, "external_tool_unavailable")), []ActionKind{AddInfo},
			Attention},
		"runtime failed": {healthy(state(health.Degraded),
			fails(health.RuntimeAvailable, health.Error, "runtime_unavailable")), []ActionKind{AddInfo}, Advisory},
		"browser failed": {healthy(state(health.Degraded), surface), []ActionKind{AddInfo}, Advisory},
		"coverage unknown, stale manual": {healthy(staleManual, gap(health.CoverageUnknown, health.DispositionChecking)),
			[]ActionKind{RefreshNow}, Advisory},
		"unread, gap":          {healthy(state(health.Unknown), unread, resumable), nil, Calm},
		"unread, stale manual": {healthy(staleManual, state(health.Unknown), unread), nil, Calm},
		"unread, terminal": {healthy(state(health.Unknown), unread,
			gap(health.TerminalGap, health.DispositionTerminal)), nil, Calm},
		"unread, rejected": {healthy(credentialRejected, state(health.Unknown), unread),
			[]ActionKind{Reauth}, Attention},
		"unread, asked without a condition": {healthy(state(health.Unknown), unread,
			func(in *Input) { in.Snapshot.Axes.Attention = health.AttentionOpen }), nil, Calm},
		"unread, asked by current condition": {healthy(state(health.Unknown), unread,
			fails(health.AttentionClear, health.BlockedSeverity, "otp_required"),
			func(in *Input) { in.Snapshot.Axes.Attention = health.AttentionOpen }), []ActionKind{AddInfo}, Attention},
	} {
		t.Run(name, func(t *testing.T) {
			v := judge(t, c.in)
			wantActions(t, v, c.kinds...)
			wantChannel(t, v, c.channel)
		})
	}
}

func TestSortingKeepsEqualsInOrder(t *testing.T) {
	actions := []RequiredAction{
		{Kind: RetryGap, Urgency: Verifying}, {Kind: RefreshNow, Urgency: Soon}, {Kind: CodeFix, Urgency: Soon},
		{Kind: Backfill, Urgency: Overdue}, {Kind: Reauth, Urgency: Now},
	}
	sortByUrgency(actions)
	var got []ActionKind
	for _, a := range actions {
		got = append(got, a.Kind)
	}
	if !slices.Equal(got, []ActionKind{Reauth, Backfill, RefreshNow, CodeFix, RetryGap}) {
		t.Errorf("order %v", got)
	}
}

func TestWordsOfAnAction(t *testing.T) {
	question := func(reason health.Text) Input {
		return healthy(state(health.NeedsAttention), func(in *Input) {
			in.Snapshot.Axes.Attention = health.AttentionAcknowledged
			in.Snapshot.NextAction = &health.NextAction{ReasonCode: reason}
		})
	}
	labelled := healthy(fails(health.RuntimeAvailable, health.BlockedSeverity, "external_tool_unavailable"))
	last := &labelled.Snapshot.Conditions[len(labelled.Snapshot.Conditions)-1]
	last.Remediation = &health.Remediation{Label: "Install the export tool"}
	device := healthy(staleManual, func(in *Input) { in.Progress.Mode = health.ModeLocalDevice })
	for want, in := range map[string]Input{
		"Enter the code that the source sent you":    question("otp_required"),
		"Finish the step that the source asks for":   question("manual_action_required"),
		"Enter the credential that the run asks for": question("credentials_required"),
		"Finish the open request":                    question("something_else"),
		"A run is under way": healthy(gap(health.Partial, health.DispositionResumable),
			syncing),
		"The next run continues automatically": healthy(gap(health.Partial, health.DispositionResumable)),
		"The next run starts after a pause":    healthy(state(health.CoolingOff)),
		"The source can be asked again after its pause": healthy(gap(health.RetryableGap,
			health.DispositionResumable), noSchedule, sourceWaits),
		"Retry after the source's pause": healthy(sourceWaits, state(health.Degraded),
			gap(health.RetryableGap, health.DispositionResumable), freshness(health.Stale, 3)),
		"Refresh after the source's pause": healthy(staleManual, sourceWaits),
		"Install the export tool":          labelled,
		"Set up what the connector needs on this installation": healthy(fails(health.RuntimeAvailable, health.Error,
			"runtime_unavailable")),
		"Add the credential that this source asks for": healthy(fails(health.CredentialsValid,
			health.BlockedSeverity, "credential_required")),
		"Run the collector again on the host that holds the data": device,
	} {
		if got := judge(t, in).RequiredActions[0].CTA; got != want {
			t.Errorf("cta %q, want %q", got, want)
		}
	}
}
