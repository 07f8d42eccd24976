package verdict

import (
	"testing"

	"github.com/pdpp-go/pdpp/internal/judge/health"
)

func TestTerminalNeverClaimsThatCollectionResumes(t *testing.T) {
	t.Attr("spec", "CH-24.1")
	for _, c := range []health.Coverage{health.TerminalGap, health.Unsupported, health.Unavailable} {
		for name, change := range map[string]func(*Input){
			"alone": func(*Input) {}, "rejected": credentialRejected, "stale manual": staleManual, "syncing": syncing,
			"asked":  func(in *Input) { in.Snapshot.Axes.Attention = health.AttentionOpen },
			"tool":   fails(health.RuntimeAvailable, health.BlockedSeverity, "external_tool_unavailable"),
			"device": stalled("outbox_dead_letter_backlog"),
		} {
			in := healthy(change, gap(c, health.DispositionTerminal))
			v := judge(t, in)
			for _, text := range []string{v.ForwardStatement, v.Streams[0].Statement, v.Progress.Headline} {
				wantNone(t, text, "resum", "retry", "refresh", "recover", "next run", "later run", "collection starts",
					"up to date")
			}
			if name == "alone" && v.ForwardStatement != sentence(stCodeFix) {
				t.Errorf("%q does not name the fix", v.ForwardStatement)
			}
		}
	}
	t.Run("one stream is enough", func(t *testing.T) {
		in := healthy()
		in.Streams[2].Coverage = health.TerminalGap
		v := judge(t, in)
		wantActions(t, v, CodeFix)
		if v.ForwardStatement != sentence(stCodeFix) {
			t.Errorf("statement %q", v.ForwardStatement)
		}
	})
}

func TestStatementNamesWhatTheActionAchieves(t *testing.T) {
	t.Attr("spec", "CH-24.2")
	asked := func(in *Input) {
		in.Snapshot.State, in.Snapshot.Axes.Attention = health.NeedsAttention, health.AttentionOpen
	}
	for name, c := range map[string]struct {
		in        Input
		kind      ActionKind
		statement sentenceID
	}{
		"refresh": {healthy(staleManual), RefreshNow, stRefresh},
		"reauth":  {healthy(credentialRejected), Reauth, stReauth},
		"sign in": {healthy(credentialRejected, signsIn), Reauth, stSignIn},
		"ending": {healthy(fails(health.CredentialContinuity, health.Info, health.ReasonCredentialLastDays)), Reauth,
			stReauthAhead},
		"asked to": {healthy(asked, signsIn, func(in *Input) {
			in.Snapshot.NextAction = &health.NextAction{ReasonCode: "manual_action_required"}
		}), AddInfo, stSignIn},
		"code": {healthy(asked, signsIn,
			func(in *Input) { in.Snapshot.NextAction = &health.NextAction{ReasonCode: "otp_required"} }), AddInfo, stAnswer},
		"answer": {healthy(asked), AddInfo, stAnswer},
		"retry": {healthy(manual, state(health.Degraded), gap(health.Partial, health.DispositionResumable)), RetryGap,
			stRetry},
		"violated": {healthy(manual, state(health.Degraded), gap(health.Partial, health.DispositionResumable),
			fails(health.CollectionSucceeded, health.Warning, protocolViolation)), RetryGap, stRetryUpdated},
		"schedule": {healthy(state(health.Idle), func(in *Input) { in.Schedule.Mode = health.SchedulePaused }),
			ReattachSchedule, stReattach},
		"runtime": {healthy(state(health.Blocked),
			fails(health.RuntimeAvailable, health.BlockedSeverity, "runtime_binding_missing")), AddInfo, stRuntime},
	} {
		t.Run(name, func(t *testing.T) {
			v := judge(t, c.in)
			a := v.RequiredActions[0]
			if a.Kind != c.kind || a.Audience != AudienceOwner || a.Terminal {
				t.Fatalf("action %+v", a)
			}
			if v.ForwardStatement != sentence(c.statement) {
				t.Errorf("statement %q, want %q", v.ForwardStatement, sentence(c.statement))
			}
		})
	}
}

// TestStatementOfARestingConnection checks the statements of connections without actions. Only one of them states
// that all is well.
func TestStatementOfARestingConnection(t *testing.T) {
	t.Attr("spec", "CH-24")
	for name, c := range map[string]struct {
		in   Input
		want string
	}{
		"healthy":       {healthy(), sentence(stNormal)},
		"syncing":       {healthy(syncing), sentence(stNormal)},
		"runtime fault": {healthy(func(in *Input) { in.RuntimeOK = false }), sentence(stLastRunOnly)},
		"uploading": {healthy(func(in *Input) { in.Snapshot.Axes.Outbox = health.OutboxActive }),
			sentence(stUploading)},
		"freshness unknown": {healthy(freshness(health.FreshnessUnknown, 0)), sentence(stFreshnessUnknown)},
		"coverage unknown":  {healthy(gap(health.CoverageUnknown, health.DispositionChecking)), sentence(stCoverageUnknown)},
		"stale by schedule": {healthy(state(health.Degraded), freshness(health.Stale, 2)), sentence(stStaleScheduled)},
		"stale, no rhythm":  {healthy(freshness(health.Stale, 2), noSchedule), sentence(stStale)},
		"stale, running":    {healthy(state(health.Degraded), freshness(health.Stale, 2), syncing), sentence(stRefreshRuns)},
		"manual, running":   {healthy(staleManual, syncing), sentence(stRefreshRuns)},
		"self-handled gap": {healthy(state(health.Degraded), gap(health.Partial, health.DispositionResumable)),
			sentence(stNextRun)},
		"gap, running": {healthy(state(health.Degraded), gap(health.Partial, health.DispositionResumable), syncing),
			sentence(stRunUnderWay)},
		"cooling off": {healthy(state(health.CoolingOff)), sentence(stPause)},
		"pressure": {healthy(state(health.CoolingOff),
			func(in *Input) { in.Snapshot.ReasonCode = "source_pressure" }), sentence(stPressurePause)},
		"pressure, gap": {healthy(state(health.CoolingOff), gap(health.RetryableGap, health.DispositionResumable),
			func(in *Input) {
				in.Snapshot.ReasonCode = "source_pressure"
			}), sentence(stPressureContinues)},
		"source waits": {healthy(sourceWaits, func(in *Input) { in.Snapshot.NextAttemptAt = daysAgo(-1) }),
			sentence(stPressurePause)},
		"source waits, gap": {healthy(sourceWaits, gap(health.RetryableGap, health.DispositionResumable),
			func(in *Input) { in.Snapshot.NextAttemptAt = daysAgo(-1) }), sentence(stPressureContinues)},
		"source waits, no rhythm": {healthy(noSchedule, sourceWaits), sentence(stWaitsForSource)},
		"blocked, running": {healthy(state(health.Blocked), gap(health.Partial, health.DispositionResumable), syncing),
			sentence(stBlocked)},
		"degraded otherwise": {healthy(state(health.Degraded)), sentence(stOtherwise)},
		"state unknown":      {healthy(state(health.Unknown)), sentence(stUnknown)},
		"never ran, paused": {healthy(state(health.Idle), func(in *Input) {
			in.Schedule = &health.ScheduleEvidence{Mode: health.SchedulePaused}
		}), sentence(stPaused)},
		"unreadable": {healthy(state(health.Unknown),
			fails(health.ProjectionReliable, health.BlockedSeverity, "projection_unreliable"),
			func(in *Input) { in.Snapshot.UnknownReasons = []string{"runs", "schedule"} }),
			"Part of what is known about this connection could not be read (its runs, its schedule), so the state of this " +
				"source is not known."},
		"unreadable, unnamed": {healthy(state(health.Unknown),
			fails(health.ProjectionReliable, health.BlockedSeverity, "projection_unreliable")),
			unreadUnspecified},
	} {
		t.Run(name, func(t *testing.T) {
			v := judge(t, c.in)
			if v.ForwardStatement != c.want {
				t.Errorf("statement %q, want %q", v.ForwardStatement, c.want)
			}
			if c.in.RuntimeOK && v.Channel != Calm {
				t.Errorf("channel %s for %+v", v.Channel, v.RequiredActions)
			}
		})
	}
}

func signsIn(in *Input) { in.SignsIn = true }
