package cadence

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

func moment(t *rapid.T, name string) time.Time {
	return noon.Add(time.Duration(rapid.Int64Range(-72*3600, 72*3600).Draw(t, name)) * time.Second)
}

func perhaps[T any](t *rapid.T, name string, make func() T) *T {
	if rapid.Bool().Draw(t, "no "+name) {
		return nil
	}
	v := make()
	return &v
}

// anyEvidence draws evidence with every trouble that a rule knows.
func anyEvidence(t *rapid.T) *evidence.Evidence {
	pick := func(name string, from ...string) string { return rapid.SampledFrom(from).Draw(t, name) }
	e := &evidence.Evidence{Connection: evidence.Connection{ID: pick("id", "cin_plum_1", "cin_plum_2")}}
	e.Connection.Status = pick("status", "active", "active", "active", "active", "paused", "revoked", "draft")
	e.Active = perhaps(t, "active", func() evidence.ActiveRun { return evidence.ActiveRun{ID: "run_2"} })
	e.Refresh = perhaps(t, "policy", func() manifest.RefreshPolicy {
		mode := manifest.RefreshMode(pick("mode", "automatic", "automatic", "manual", "paused"))
		return manifest.RefreshPolicy{RecommendedMode: mode,
			MinimumIntervalSeconds: rapid.IntRange(0, 9000).Draw(t, "minimum")}
	})
	e.Schedule = perhaps(t, "schedule", func() evidence.Schedule {
		return evidence.Schedule{
			Enabled:         pick("enabled", "yes", "yes", "no") == "yes",
			IntervalSeconds: rapid.Int64Range(0, 90000).Draw(t, "interval"),
			JitterSeconds:   rapid.Int64Range(0, 900).Draw(t, "jitter"), UpdatedAt: moment(t, "set"),
		}
	})
	e.LastRun = perhaps(t, "run", func() evidence.Run {
		started := moment(t, "started")
		r := evidence.Run{Status: rapid.SampledFrom(evidence.RunStatuses).Draw(t, "ended as"), StartedAt: started,
			EndedAt: started.Add(time.Minute)}
		if r.Status != evidence.RunSucceeded {
			r.Failure = &evidence.Failure{Code: pick("code", "", "auth_failure", "gate_stuck"),
				Reason: pick("reason", "", "network")}
		}
		r.RecoveryOnly = rapid.Bool().Draw(t, "recovery")
		return r
	})
	e.LastSuccessAt = perhaps(t, "success", func() time.Time { return moment(t, "succeeded") })
	e.Backoff = perhaps(t, "backoff", func() evidence.Backoff {
		return evidence.Backoff{
			Failures: rapid.IntRange(0, 9).Draw(t, "failures"), ObservedAt: moment(t, "observed"),
			NextAttemptAt: perhaps(t, "next", func() time.Time { return moment(t, "next attempt") }),
		}
	})
	if w := perhaps(t, "wait", func() time.Time { return moment(t, "provider waits") }); w != nil {
		e.Waits = senderWaits(*w)
	}
	e.Credential = perhaps(t, "credential", func() evidence.Credential {
		return evidence.Credential{
			Status: pick("standing", "active", "rejected", "revoked"), CapturedAt: moment(t, "captured"),
			RejectedAt: perhaps(t, "rejected", func() time.Time { return moment(t, "rejected at") }),
		}
	})
	if q := perhaps(t, "question", func() evidence.Attention {
		return evidence.Attention{
			Lifecycle: evidence.Lifecycle(pick("lifecycle", "open", "acknowledged", "resolved")),
			ExpiresAt: perhaps(t, "expiry", func() time.Time { return moment(t, "expires") }),
		}
	}); q != nil {
		e.Attention = []evidence.Attention{*q}
	}
	e.Gaps = perhaps(t, "gaps", func() evidence.Gaps {
		var g evidence.Gaps
		for range rapid.IntRange(0, 3).Draw(t, "groups") {
			earliest := perhaps(t, "first", func() time.Time { return moment(t, "earliest") })
			floor := perhaps(t, "floor", func() time.Time { return moment(t, "not before") })
			if earliest != nil && (floor == nil || floor.Before(*earliest)) {
				floor = earliest
			}
			g.Groups = append(g.Groups, evidence.GapGroup{
				Reason: rapid.SampledFrom([]protocol.Reason{protocol.ReasonRateLimited, protocol.ReasonRetryExhausted}).Draw(t,
					"gap"),
				Count: rapid.Int64Range(0, 5).Draw(t, "count"), MaxAttempts: rapid.Int64Range(0, 9).Draw(t, "attempts"),
				NotBefore: floor, Earliest: earliest,
			})
		}
		return g
	})
	if rapid.IntRange(0, 9).Draw(t, "unreadable") == 0 {
		e.Unreadable = []evidence.Family{rapid.SampledFrom(evidence.Families).Draw(t, "family")}
	}
	return e
}

// timed are the reasons that end with time.
var timed = []Reason{ProviderWait, InBackoff, SourcePressure, NotYet}

func TestDecisionProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := anyEvidence(t)
		d := Decide(e, noon)
		if !slices.Contains(Reasons, d.Why) || d.Due != (d.Why == Due) || d.RecoveryOnly && !d.Due {
			t.Fatalf("%+v", d)
		}
		s := readSituation(e, noon)
		first := slices.IndexFunc(scheduleRules, func(r scheduleRule) bool { return r.match(&s) })
		if first < 0 || scheduleRules[first].Why != d.Why || scheduleRules[first].recovery != d.RecoveryOnly {
			t.Fatalf("rule %d, decision %+v", first, d)
		}
		if d.Due {
			switch {
			case e.Active != nil, e.Connection.Status != evidence.StatusActive, e.Schedule == nil, !e.Schedule.Enabled,
				e.Refresh.ManualOnly():
				t.Fatalf("due against the owner's word: %+v", e)
			case s.questionOpen(), s.credentialRefused():
				t.Fatalf("due although the owner must act first: %+v", e)
			case e.LastRun != nil && e.LastRun.Status != evidence.RunAbandoned && !e.LastRun.StartedAt.After(noon) &&
				noon.Sub(e.LastRun.StartedAt) < RunInterval(e):
				t.Fatalf("due %v after the last start, every %v", noon.Sub(e.LastRun.StartedAt), RunInterval(e))
			}
		}
		if slices.Contains(timed, d.Why) != (d.At != nil && !d.Due) {
			t.Fatalf("%s at %v", d.Why, d.At)
		}
		if d.Due && d.At.After(noon) || !d.Due && d.At != nil && !d.At.After(noon) {
			t.Fatalf("%s at %v", d.Why, d.At)
		}
	})
}

// A delayed run is due at the announced time and not earlier, as far as new data is concerned. During a cool-down a
// due run may only retry gaps.
func TestDecisionKeepsItsWord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e, drawn := ready(), anyEvidence(t)
		// A run that a wrong clock dated in the future makes no promise: the turn after it is brought forward.
		if drawn.LastRun != nil && !drawn.LastRun.StartedAt.After(noon) {
			e.LastRun.StartedAt, e.LastRun.EndedAt = drawn.LastRun.StartedAt, drawn.LastRun.EndedAt
		}
		e.Backoff, e.Gaps = drawn.Backoff, drawn.Gaps
		e.Schedule.IntervalSeconds = rapid.Int64Range(60, 90000).Draw(t, "every")
		e.Schedule.JitterSeconds = rapid.Int64Range(0, 900).Draw(t, "spread")
		d := Decide(e, noon)
		if d.At == nil || d.Due {
			return
		}
		then := Decide(e, *d.At)
		if d.Why == NotYet && !then.Due {
			t.Fatalf("%+v, then %+v", d, then)
		}
		if slices.Contains(timed, then.Why) || then.RecoveryOnly && d.Why != SourcePressure {
			t.Fatalf("%+v, then %+v", d, then)
		}
		if before := Decide(e, d.At.Add(-1)); before.Due && !before.RecoveryOnly {
			t.Fatalf("%+v, and before that %+v", d, before)
		}
	})
}
