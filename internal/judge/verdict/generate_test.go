package verdict

import (
	"math/rand/v2"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/health"
)

// generator makes inputs, most of which no projection would emit.
type generator struct{ *rand.Rand }

func newGenerator(seed uint64) generator { return generator{rand.New(rand.NewPCG(seed, 0x5eed))} }

func oneOf[T any](g generator, values ...T) T { return values[g.IntN(len(values))] }

func (g generator) odds(percent int) bool { return g.IntN(100) < percent }

func (g generator) count() *int64 {
	if g.odds(30) {
		return nil
	}
	return ptr(oneOf[int64](g, -3, 0, 1, 2, 3, 40, 429, 1500, 1<<60))
}

func (g generator) moment() *time.Time {
	if g.odds(30) {
		return nil
	}
	at := observed.Add(time.Duration(g.IntN(40*24)-48) * -time.Hour)
	return &at
}

func (g generator) coverage() health.Coverage {
	return oneOf(g, health.Complete, health.Complete, health.Complete, health.Partial, health.Gapped, health.RetryableGap,
		health.TerminalGap, health.Deferred, health.InventoryOnly, health.Unavailable, health.Unsupported,
		health.CoverageUnknown, "odd", "")
}

func (g generator) conditions() (cs []health.Condition) {
	reasons := map[health.ConditionType][]string{
		health.LocalExporterAvailable: {"local_exporter_state_read_failed", "local_exporter_dead_letter_backlog",
			"local_exporter_stale_pending", "local_exporter_stalled"},
		health.BacklogClear: {"outbox_state_read_failed", "outbox_dead_letter_backlog", "outbox_stale_pending",
			"outbox_active"},
		health.CredentialsValid: {"credential_rejected", "credential_required", "session_expired"},
	}
	for _, t := range []health.ConditionType{
		health.ProjectionReliable, health.ScheduleEligible, health.RetryPolicyClear, health.AttentionClear,
		health.CollectionSucceeded,
		health.CredentialsValid, health.RuntimeAvailable, health.RemoteSurfaceAvailable, health.LocalExporterAvailable,
		health.BacklogClear, health.SourceCoverageComplete, health.FreshCondition, "NoSuchCondition",
	} {
		if g.odds(30) {
			continue
		}
		c := condition(t, health.True, health.Info, "fine")
		if g.odds(20) {
			c = condition(t, oneOf(g, health.False, health.False, health.StatusUnknown, "maybe"),
				oneOf(g, health.Info, health.Warning, health.Error, health.BlockedSeverity, "grave"),
				oneOf(g, append(reasons[t], "odd")...))
			c.Current = g.odds(80)
		}
		if g.odds(20) {
			c.Remediation = &health.Remediation{Label: oneOf(g, "", "Install what is missing")}
		}
		cs = append(cs, c)
	}
	return cs
}

func (g generator) streams() (out []health.StreamRollup) {
	ids := []string{"messages", "people", "files", "messages", ""}
	for i := range g.IntN(5) {
		out = append(out, health.StreamRollup{
			StreamID: ids[i], Priority: oneOf(g, health.RequiredStream, health.RequiredStream, health.OptionalStream,
				health.AcceptedAbsence, "odd"),
			Coverage: g.coverage(), Collected: g.count(), Considered: g.count(), GapRetryable: g.odds(30),
			AttentionOpen: g.odds(15),
		})
	}
	return out
}

func (g generator) snapshot() health.Snapshot {
	s := health.Snapshot{
		State:      oneOf(g, append(health.States, health.Healthy, health.Degraded, "odd")...),
		ReasonCode: oneOf[health.Text](g, "", "", "source_pressure", "stale_manual_refresh", "odd"),
		Axes: health.Axes{
			Attention: oneOf(g, health.AttentionNone, health.AttentionNone, health.AttentionNone, health.AttentionOpen,
				health.AttentionAcknowledged, health.AttentionInProgress, "odd"),
			Coverage:  g.coverage(),
			Freshness: oneOf(g, health.Fresh, health.Fresh, health.Stale, health.Stale, health.FreshnessUnknown, "odd"),
			Outbox: oneOf(g, health.OutboxIdle, health.OutboxActive, health.OutboxUnknown, health.OutboxUnknown,
				health.OutboxStalled, "odd"),
		},
		Badges:     health.Badges{Syncing: g.odds(20), Stale: g.odds(20)},
		Conditions: g.conditions(),
		Disposition: oneOf(g, health.DispositionComplete, health.DispositionComplete, health.DispositionComplete,
			health.DispositionResumable,
			health.DispositionOwnerRefreshDue, health.DispositionAwaitingOwner, health.DispositionTerminal,
			health.DispositionChecking, "odd"),
		LastSuccessAt: g.moment(), NextAttemptAt: g.moment(),
	}
	if g.odds(30) {
		s.Backlog = &health.Backlog{Pending: int64(g.IntN(3)), PendingOther: int64(g.IntN(3)), Recovered: g.count()}
	}
	if g.odds(20) {
		s.NextAction = &health.NextAction{ReasonCode: oneOf[health.Text](g, "otp_required", "credentials_required", "odd")}
	}
	if g.odds(20) {
		s.UnknownReasons = []string{oneOf(g, "runs", "schedule", "odd")}
	}
	return s
}

func (g generator) input() Input {
	in := Input{Snapshot: g.snapshot(), Streams: g.streams(), RuntimeOK: g.odds(85), SignsIn: g.odds(15)}
	if g.odds(80) {
		in.Refresh = &health.RefreshEvidence{RecommendedMode: oneOf(g, "", "scheduled", "manual", "paused", "odd")}
	}
	if g.odds(80) {
		in.Progress = &health.ProgressEvidence{
			Mode: oneOf(g, health.ModeScheduled, health.ModeManual, health.ModeDeferred, health.ModeLocalDevice,
				"odd"),
			RetainedRecords: g.count(), RecordsCommittedLastRun: g.count(), GapsDrainedLastRun: g.count(),
			LastRefreshedAt: g.moment(),
		}
		if g.odds(85) {
			in.Progress.ObservedAt = &observed
		}
	}
	if g.odds(80) {
		in.Schedule = &health.ScheduleEvidence{
			Mode: oneOf(g, health.NoSchedule, health.ScheduleActive, health.SchedulePaused, "odd"), HasPriorSuccess: g.odds(60),
			SourceWaits: g.odds(15),
		}
	}
	return in
}
