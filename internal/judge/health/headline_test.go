package health

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/manifest"
)

// good is the evidence of a scheduled connection on which nothing is wrong.
func good() *evidence.Evidence {
	e := covered(Complete)
	e.Connection.Status = evidence.StatusActive
	e.LastRun.EndedAt = noon.Add(-time.Hour)
	e.LastSuccessAt = at(-time.Hour)
	e.Refresh = &manifest.RefreshPolicy{RecommendedMode: manifest.RefreshAutomatic, MaximumStalenessSeconds: 86400}
	e.Schedule = &evidence.Schedule{Enabled: true, IntervalSeconds: 3600}
	return e
}

func never(e *evidence.Evidence) { e.LastRun, e.LastSuccessAt, e.Streams[0].Fact = nil, nil, nil }

// Each rule decides for evidence of its own, and for that evidence with all
// later troubles added.
func TestHeadlineRulesInOrder(t *testing.T) {
	fed := func(e *evidence.Evidence, s evidence.DeviceSource) {
		e.Device = &evidence.Device{Sources: []evidence.DeviceSource{s}}
	}
	troubles := []struct {
		rule string
		edit func(*evidence.Evidence)
	}{
		{"unreadable evidence", func(e *evidence.Evidence) { e.Unreadable = []evidence.Family{evidence.FamilyRuns} }},
		{"open question", func(e *evidence.Evidence) {
			e.Attention = []evidence.Attention{{Lifecycle: evidence.AttentionOpen, Reason: "otp_required"}}
		}},
		{"paused by the owner", func(e *evidence.Evidence) { e.Connection.Status = evidence.StatusPaused }},
		{"credential missing", func(e *evidence.Evidence) {
			e.Credential = &evidence.Credential{Status: evidence.CredentialRejected, RejectedAt: at(-time.Minute)}
		}},
		{"runtime missing", func(e *evidence.Evidence) {
			e.Probes = append(e.Probes, evidence.Probe{Dimension: evidence.ProbeTool, Status: evidence.ProbeFailed, At: noon})
		}},
		{"scheduler gave up", func(e *evidence.Evidence) {
			e.Backoff = &evidence.Backoff{Failures: giveUpFailures,
				ObservedAt: noon}
		}},
		{"degrading condition", func(e *evidence.Evidence) { e.Streams[0].Fact.Covered = num(1) }},
		{"active backoff", func(e *evidence.Evidence) {
			if e.Backoff == nil {
				e.Backoff = &evidence.Backoff{Failures: giveUpFailures - 1, ObservedAt: noon, NextAttemptAt: at(time.Hour)}
			}
		}},
		{"remote browser unknown", func(e *evidence.Evidence) {
			e.Probes = append(e.Probes, evidence.Probe{Dimension: evidence.ProbeRemoteSurface, Status: evidence.ProbeUnknown,
				At: noon})
		}},
		{"device silent", func(e *evidence.Evidence) {
			fed(e,
				evidence.DeviceSource{DeviceStatus: "active", Status: "active"})
		}},
	}
	for i := range troubles {
		e := good()
		for _, later := range troubles[i:] {
			later.edit(e)
		}
		if got := Project(e, noon).Rule.Name; got != troubles[i].rule {
			t.Errorf("%s and all after it: %s", troubles[i].rule, got)
		}
	}
	for rule, edit := range map[string]func(*evidence.Evidence){
		"all good":        func(*evidence.Evidence) {},
		"unclassified":    func(e *evidence.Evidence) { e.Refresh = nil },
		"never collected": never,
		"fresh without a collection": func(e *evidence.Evidence) {
			never(e)
			fed(e,
				trusted(evidence.HeartbeatHealthy, 0, num(0), nil))
		},
		"manual refresh due": func(e *evidence.Evidence) {
			e.Refresh.RecommendedMode, e.Refresh.MaximumStalenessSeconds = manifest.RefreshManual, 60
		},
	} {
		e := good()
		edit(e)
		if got := Project(e, noon).Rule; got.Name != rule || got.When == "" {
			t.Errorf("%s: %s (%s)", rule, got.Name, got.When)
		}
	}
	if want := len(troubles) + 5; len(headlineRules) != want {
		t.Errorf("%d rules, and cases for %d", len(headlineRules), want)
	}
}

func TestNextAttempt(t *testing.T) {
	cases := []struct {
		name string
		edit func(*evidence.Evidence)
		want *time.Time
	}{
		{"overdue is now", func(*evidence.Evidence) {}, at(0)},
		{"an interval after the last start", func(e *evidence.Evidence) { e.LastRun.StartedAt = noon.Add(-10 * time.Minute) },
			at(50 * time.Minute)},
		{"never ran", never, at(0)},
		{"backed off", func(e *evidence.Evidence) {
			e.Backoff = &evidence.Backoff{ObservedAt: noon, NextAttemptAt: at(3 * time.Hour)}
		}, at(3 * time.Hour)},
		{"provider waits", func(e *evidence.Evidence) { e.Waits = waitsUntil(2 * time.Hour) }, at(2 * time.Hour)},
		{"asked for, and the provider waits", func(e *evidence.Evidence) {
			e.Schedule, e.RequestedAt, e.Waits = nil, at(-time.Minute), waitsUntil(2*time.Hour)
		}, at(2 * time.Hour)},
		{"asked for", func(e *evidence.Evidence) { e.Schedule, e.RequestedAt = nil, at(-time.Minute) }, nil},
		{"paused", func(e *evidence.Evidence) { e.Schedule.Enabled = false }, nil},
		{"no schedule", func(e *evidence.Evidence) { e.Schedule = nil }, nil},
		{"only the owner runs it", func(e *evidence.Evidence) { e.Refresh.RecommendedMode = manifest.RefreshPaused }, nil},
	}
	for _, c := range cases {
		e := good()
		c.edit(e)
		got := Project(e, noon).Snapshot.NextAttemptAt
		if (got == nil) != (c.want == nil) || got != nil && !got.Equal(*c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
