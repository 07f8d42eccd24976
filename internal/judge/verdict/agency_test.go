package verdict

import (
	"testing"

	"github.com/pdpp-go/pdpp/internal/judge/health"
)

func TestSelfResolvableIsHandledSilently(t *testing.T) {
	t.Attr("spec", "CH-29.1")
	backoff := fails(health.RetryPolicyClear, health.Warning, "scheduler_backoff_active")
	for name, in := range map[string]Input{
		"retry": healthy(state(health.CoolingOff), backoff, func(in *Input) { in.Snapshot.NextAttemptAt = daysAgo(-1) }),
		"drain": healthy(state(health.Degraded), gap(health.RetryableGap, health.DispositionResumable),
			fails(health.SourceCoverageComplete, health.Warning, "retryable_gap")),
		"token": healthy(state(health.Degraded), syncing, gap(health.Partial, health.DispositionResumable), backoff),
	} {
		t.Run(name, func(t *testing.T) {
			v := judge(t, in)
			wantChannel(t, v, Calm)
			for _, a := range v.RequiredActions {
				if a.Audience == AudienceOwner {
					t.Errorf("asks the owner: %+v", a)
				}
			}
			if len(v.Detail.Conditions) != len(in.Snapshot.Conditions) || len(v.Detail.Suppressed) == 0 {
				t.Errorf("detail %+v", v.Detail)
			}
		})
	}
}

func TestOwnerSoleResolutionInterrupts(t *testing.T) {
	t.Attr("spec", "CH-29.2")
	v := judge(t, healthy(manual, credentialRejected))
	wantChannel(t, v, Attention)
	wantActions(t, v, Reauth)
	if a := v.RequiredActions[0]; a.Audience != AudienceOwner || !v.Push() {
		t.Errorf("action %+v, push %t", a, v.Push())
	}
	expired := healthy(credentialRejected, state(health.Healthy))
	expired.Snapshot.Conditions[len(expired.Snapshot.Conditions)-1].Current = false
	wantActions(t, judge(t, expired))
}

// A connection that was made and never ran asks its owner for the first run,
// and only where nothing else starts it.
func TestFirstRunIsOffered(t *testing.T) {
	never := func(in *Input) {
		in.Snapshot.State, in.Snapshot.LastSuccessAt = health.Idle, nil
		in.Snapshot.Axes.Freshness = health.FreshnessUnknown
		in.Schedule = &health.ScheduleEvidence{Mode: health.NoSchedule}
		in.Progress = &health.ProgressEvidence{Mode: health.ModeManual, ObservedAt: &observed}
	}
	unknown := gap(health.CoverageUnknown, health.DispositionChecking)
	v := Synthesize(healthy(never, unknown))
	if len(v.RequiredActions) != 1 || v.RequiredActions[0].Kind != RefreshNow || v.Channel != Advisory ||
		v.Pill.Tone != Grey {
		t.Fatalf("a connection that never ran: %+v on %s, %s", v.RequiredActions, v.Channel, v.Pill.Tone)
	}
	if v.ForwardStatement != sentence(stFirstRun) || v.RequiredActions[0].CTA != sentence(ctaFirstRun) {
		t.Errorf("it says %q and asks %q", v.ForwardStatement, v.RequiredActions[0].CTA)
	}
	for name, change := range map[string]func(*Input){
		"a run is under way":     func(in *Input) { in.Snapshot.Badges.Syncing = true },
		"a schedule starts it":   func(in *Input) { in.Schedule.Mode = health.ScheduleActive },
		"nothing tells of one":   func(in *Input) { in.Schedule = nil },
		"a device starts itself": func(in *Input) { in.Progress.Mode = health.ModeLocalDevice },
	} {
		if v := Synthesize(healthy(never, unknown, change)); len(v.RequiredActions) > 0 {
			t.Errorf("%s: %+v", name, v.RequiredActions)
		}
	}
}

// A broken connection always asks its owner for a run that could show more, even if it is unknown what is missing.
func TestBrokenAndUnmeasuredIsNotSilent(t *testing.T) {
	unknown := gap(health.CoverageUnknown, health.DispositionChecking)
	for name, in := range map[string]Input{
		"the scheduler gave up": healthy(state(health.Blocked), unknown,
			fails(health.RetryPolicyClear, health.BlockedSeverity, "network_error")),
		"stale, and nothing starts one": healthy(state(health.Degraded), unknown, freshness(health.Stale, 9),
			func(in *Input) { in.Schedule = nil }),
	} {
		v := Synthesize(in)
		if len(v.RequiredActions) != 1 || v.RequiredActions[0].Kind != RefreshNow || v.Channel != Advisory {
			t.Errorf("%s: %+v on %s", name, v.RequiredActions, v.Channel)
		}
	}
}
