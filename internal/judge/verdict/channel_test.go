package verdict

import (
	"testing"

	"github.com/pdpp-go/pdpp/internal/judge/health"
)

func TestUrgencyIsSeparateFromTone(t *testing.T) {
	t.Attr("spec", "CH-23.1")
	refresh := judge(t, healthy(staleManual))
	wantPill(t, refresh, Green, "Healthy")
	wantChannel(t, refresh, Advisory)
	wantActions(t, refresh, RefreshNow)

	for _, s := range []health.State{health.Blocked, health.Degraded, health.NeedsAttention} {
		rejected := judge(t, healthy(credentialRejected, state(s)))
		wantChannel(t, rejected, Attention)
		wantActions(t, rejected, Reauth)
		if !rejected.Push() || refresh.Push() {
			t.Error("only the rejected credential may ask for the owner")
		}
	}
	wantPill(t, judge(t, healthy(credentialRejected, state(health.Degraded))), Amber, "Degraded")
}

func TestBrokenButRecentDoesNotClaimFreshness(t *testing.T) {
	t.Attr("spec", "CH-23.2")
	v := judge(t, healthy(credentialRejected, freshness(health.Fresh, 2)))
	wantPill(t, v, Red, "Can't collect")
	wantFreshnessNote(t, v, "Last successful refresh 2 days ago")

	in := healthy(credentialRejected)
	in.Progress.ObservedAt = nil
	wantFreshnessNote(t, judge(t, in), "Last successful refresh: time not known")
}

func TestTerminalCodeFixIsFactual(t *testing.T) {
	t.Attr("spec", "CH-23.3")
	v := judge(t, healthy(state(health.Degraded), gap(health.TerminalGap, health.DispositionTerminal)))
	wantPill(t, v, Red, "Can't collect")
	wantChannel(t, v, Advisory)
	wantActions(t, v, CodeFix)
	a := v.RequiredActions[0]
	if a.Audience != AudienceMaintainer || a.SatisfiedWhen.Kind != NothingSatisfiesThis || !a.Terminal {
		t.Errorf("action %+v", a)
	}
	const fact = "The connector needs a code fix before this source can collect again"
	if a.CTA != fact || v.ForwardStatement != fact+"." {
		t.Errorf("cta %q, statement %q", a.CTA, v.ForwardStatement)
	}
}

func TestRetryableGapGetsARetryAndNoCodeFix(t *testing.T) {
	t.Attr("spec", "CH-23.4")
	// A skip and a pending gap of one stream reach the verdict as a retryable
	// gap. A manual source and a stale one both leave the retry to the owner.
	for name, in := range map[string]Input{
		"manual": healthy(manual, state(health.Degraded), gap(health.RetryableGap, health.DispositionResumable)),
		"stale": healthy(state(health.Degraded), gap(health.RetryableGap, health.DispositionResumable),
			freshness(health.Stale, 4)),
	} {
		in.Streams[0].GapRetryable = true
		v := judge(t, in)
		wantPill(t, v, Amber, "Degraded")
		wantChannel(t, v, Advisory)
		wantActions(t, v, RetryGap)
		if v.RequiredActions[0].Terminal {
			t.Errorf("%s: terminal", name)
		}
	}
}

func TestFreshAndSelfHandledStaysCalm(t *testing.T) {
	t.Attr("spec", "CH-23.5")
	pending := func(in *Input) { in.Snapshot.Backlog = &health.Backlog{Pending: 40, MaxAttemptCount: 2} }
	cases := map[string]Input{
		"drain":    healthy(state(health.Degraded), gap(health.RetryableGap, health.DispositionResumable), pending),
		"cooldown": healthy(state(health.CoolingOff), func(in *Input) { in.Snapshot.NextAttemptAt = daysAgo(-1) }),
		"run":      healthy(syncing),
		"all of it": healthy(state(health.CoolingOff), gap(health.RetryableGap, health.DispositionResumable), pending,
			syncing,
			func(in *Input) { in.Snapshot.NextAttemptAt = daysAgo(-1) }),
	}
	for name, in := range cases {
		t.Run(name, func(t *testing.T) {
			v := judge(t, in)
			wantChannel(t, v, Calm)
			for _, a := range v.RequiredActions {
				if a.Audience == AudienceOwner {
					t.Errorf("asks the owner: %+v", a)
				}
			}
		})
	}
}

func TestDegradedResumableStaleIsAdvisory(t *testing.T) {
	t.Attr("spec", "CH-23.13")
	for _, c := range []health.Coverage{health.Partial, health.Gapped, health.RetryableGap} {
		for name, change := range map[string]func(*Input){
			"scheduled": func(*Input) {}, "manual": manual, "no schedule": noSchedule,
			"next attempt set": func(in *Input) { in.Snapshot.NextAttemptAt = daysAgo(-1) },
			"under pressure":   func(in *Input) { in.Snapshot.ReasonCode = "source_pressure" },
			"schedule off":     func(in *Input) { in.Schedule.Mode = health.SchedulePaused },
		} {
			t.Run(string(c)+"/"+name, func(t *testing.T) {
				v := judge(t, healthy(state(health.Degraded), gap(c, health.DispositionResumable), freshness(health.Stale, 5),
					change))
				wantChannel(t, v, Advisory)
				wantActions(t, v, RetryGap)
				a := v.RequiredActions[0]
				if a.Audience != AudienceOwner || a.SatisfiedWhen.Kind != GapRecovered {
					t.Errorf("action %+v", a)
				}
			})
		}
	}
}

// TestChannelOfEveryAction writes the routing out once more, by hand.
func TestChannelOfEveryAction(t *testing.T) {
	t.Attr("spec", "CH-23.14")
	for _, audience := range []Audience{AudienceOwner, AudienceMaintainer, AudienceNone} {
		for _, urgency := range urgencyOrder {
			for _, contract := range []Contract{NothingSatisfiesThis, ConfirmingRun, GapRecovered} {
				want := Calm
				switch {
				case audience == AudienceMaintainer:
					want = Advisory
				case audience == AudienceOwner && contract != NothingSatisfiesThis && (urgency == Now || urgency == Overdue):
					want = Attention
				case audience == AudienceOwner:
					want = Advisory
				}
				a := RequiredAction{Kind: AddInfo, Audience: audience, Urgency: urgency, SatisfiedWhen: Satisfaction{contract}}
				got, _ := routeChannel([]RequiredAction{a})
				if got != want {
					t.Errorf("%s %s %s gives %s, want %s", audience, urgency, contract, got, want)
				}
				if got == Attention && !a.OwnerSatisfiable() {
					t.Errorf("%+v interrupts and cannot be done", a)
				}
			}
		}
	}
	if c, cause := routeChannel(nil); c != Calm || cause != "none" {
		t.Errorf("no action gives %s by %s", c, cause)
	}
}

func TestRuntimeFaultCapsTheChannelAndNotThePill(t *testing.T) {
	t.Attr("spec", "CH-28.2")
	for name, in := range map[string]Input{
		"rejected": healthy(credentialRejected), "stalled": healthy(stalled("local_exporter_stale_pending")),
		"terminal": healthy(gap(health.TerminalGap, health.DispositionTerminal)), "stale": healthy(staleManual),
		"healthy": healthy(),
	} {
		t.Run(name, func(t *testing.T) {
			honest := judge(t, in)
			in.RuntimeOK = false
			v := judge(t, in)
			wantChannel(t, v, Calm)
			if v.Pill != honest.Pill || len(v.RequiredActions) != len(honest.RequiredActions) {
				t.Errorf("pill %+v became %+v", honest.Pill, v.Pill)
			}
			if v.Trace.RuntimeCapped != (honest.Channel != Calm) || v.Push() {
				t.Errorf("capped %t", v.Trace.RuntimeCapped)
			}
			wantNone(t, v.ForwardStatement, "normally")
		})
	}
}
