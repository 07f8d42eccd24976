package cadence

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func at(d time.Duration) *time.Time { t := noon.Add(d); return &t }

// ready returns a connection with an hourly schedule and a last run that started two hours ago.
func ready() *evidence.Evidence {
	return &evidence.Evidence{
		Connection: evidence.Connection{ID: "cin_plum_1", Status: evidence.StatusActive},
		Refresh:    &manifest.RefreshPolicy{RecommendedMode: manifest.RefreshAutomatic},
		Schedule:   &evidence.Schedule{Enabled: true, IntervalSeconds: 3600, UpdatedAt: *at(-90 * time.Hour)},
		LastRun: &evidence.Run{
			ID: "run_1", Status: evidence.RunSucceeded, StartedAt: *at(-2 * time.Hour), EndedAt: *at(-110 * time.Minute),
		},
		LastSuccessAt: at(-110 * time.Minute),
		Gaps:          &evidence.Gaps{},
	}
}

func gaps(groups ...evidence.GapGroup) func(*evidence.Evidence) {
	return func(e *evidence.Evidence) { e.Gaps = &evidence.Gaps{Groups: groups} }
}

func failed(f evidence.Failure) func(*evidence.Evidence) {
	return func(e *evidence.Evidence) {
		e.LastRun.Status, e.LastRun.Failure, e.LastSuccessAt = evidence.RunFailed, &f, at(-30*time.Hour)
	}
}

func waits(failures int, next *time.Time) func(*evidence.Evidence) {
	return func(e *evidence.Evidence) {
		e.Backoff = &evidence.Backoff{Class: "failure:network", Failures: failures, ObservedAt: *at(-time.Hour),
			NextAttemptAt: next}
	}
}

// told returns waits that a provider announced for two of its hosts.
func senderWaits(until time.Time) []evidence.SenderWait {
	return []evidence.SenderWait{
		{Sender: "files", Until: noon.Add(time.Minute), Reason: protocol.WaitSearched, At: *at(-time.Minute)},
		{Sender: "api", Until: until, Reason: protocol.WaitRetryAfter, At: *at(-time.Hour)},
	}
}

// troubles has evidence for each rule, in the order of the table.
var troubles = []struct {
	rule string
	edit func(*evidence.Evidence)
	at   *time.Time
}{
	{"run under way", func(e *evidence.Evidence) { e.Active = &evidence.ActiveRun{ID: "run_2", StartedAt: noon} }, nil},
	{"not in use", func(e *evidence.Evidence) { e.Connection.Status = evidence.StatusRevoked }, nil},
	{"facts missing", func(e *evidence.Evidence) { e.Unreadable = []evidence.Family{evidence.FamilyRuns} }, nil},
	{"paused by the owner", func(e *evidence.Evidence) { e.Schedule.Enabled = false }, nil},
	{"no rhythm", func(e *evidence.Evidence) { e.Schedule.IntervalSeconds = 0 }, nil},
	{"owner starts it", func(e *evidence.Evidence) { e.Refresh.RecommendedMode = manifest.RefreshManual }, nil},
	{"open question", func(e *evidence.Evidence) {
		e.Attention = []evidence.Attention{{Lifecycle: evidence.AttentionOpen, OpenedAt: *at(-time.Hour)}}
	}, nil},
	{"credential refused", func(e *evidence.Evidence) {
		e.Credential = &evidence.Credential{Status: evidence.CredentialRejected, RejectedAt: at(-time.Minute)}
	}, nil},
	{"gave up", func(e *evidence.Evidence) {
		if e.Backoff == nil {
			waits(GiveUpFailures, nil)(e)
		}
	}, nil},
	{"provider waits", func(e *evidence.Evidence) {
		e.Waits = senderWaits(noon.Add(90 * time.Minute))
	}, at(90 * time.Minute)},
	{"waits after failures", func(e *evidence.Evidence) {
		if e.Backoff == nil {
			waits(3, at(time.Hour))(e)
		}
	}, at(time.Hour)},
	{"recovers meanwhile", func(e *evidence.Evidence) {
		if e.Gaps.Groups == nil {
			gaps(evidence.GapGroup{Reason: protocol.ReasonRateLimited, Count: 1, MaxAttempts: 1},
				evidence.GapGroup{Reason: protocol.ReasonRetryExhausted, Count: 1})(e)
		}
	}, at(-time.Hour)},
	{"source under pressure", func(e *evidence.Evidence) {
		if e.Gaps.Groups == nil {
			gaps(evidence.GapGroup{Reason: protocol.ReasonRateLimited, Count: 1, MaxAttempts: 1})(e)
		}
	}, at(10 * time.Minute)},
	{"not its turn", func(e *evidence.Evidence) {
		e.LastRun.StartedAt, e.LastRun.EndedAt = *at(-30 * time.Minute), *at(-20 * time.Minute)
	}, at(30 * time.Minute)},
	{"its turn", func(*evidence.Evidence) {}, at(-time.Hour)},
}

// Each rule decides for evidence of its own.
func TestEachRule(t *testing.T) {
	for i, c := range troubles {
		e := ready()
		c.edit(e)
		s := readSituation(e, noon)
		r := s.decide()
		if r.Name != c.rule || scheduleRules[i].Name != c.rule {
			t.Errorf("%s: %s decides", c.rule, r.Name)
		}
		d := Decide(e, noon)
		if d.Due != (c.rule == "its turn" || c.rule == "recovers meanwhile") ||
			d.RecoveryOnly != (c.rule == "recovers meanwhile") || d.Why != r.Why {
			t.Errorf("%s: %+v", c.rule, d)
		}
		if (d.At == nil) != (c.at == nil) || d.At != nil && !d.At.Equal(*c.at) {
			t.Errorf("%s: at %v, want %v", c.rule, d.At, c.at)
		}
	}
	if len(troubles) != len(scheduleRules) {
		t.Errorf("%d rules, %d of them have a case", len(scheduleRules), len(troubles))
	}
}

// Earlier rows of the table decide, even if all later conditions hold as well.
func TestRulesInOrder(t *testing.T) {
	for i := range troubles {
		if troubles[i].rule == "recovers meanwhile" {
			continue // it needs its turn, which a later trouble takes away
		}
		e := ready()
		for _, later := range troubles[i:] {
			later.edit(e)
		}
		s := readSituation(e, noon)
		if got := s.decide().Name; got != troubles[i].rule {
			t.Errorf("%s and all after it: %s", troubles[i].rule, got)
		}
	}
}

// What a rule compares with is read at its edges.
func TestEdges(t *testing.T) {
	question := func(l evidence.Lifecycle, expires *time.Time) func(*evidence.Evidence) {
		return func(e *evidence.Evidence) { e.Attention = []evidence.Attention{{Lifecycle: l, ExpiresAt: expires}} }
	}
	unread := func(f evidence.Family) func(*evidence.Evidence) {
		return func(e *evidence.Evidence) { e.Unreadable = []evidence.Family{f} }
	}
	unsafe := false
	for name, c := range map[string]struct {
		edit func(*evidence.Evidence)
		want Reason
	}{
		"draft": {func(e *evidence.Evidence) { e.Connection.Status = evidence.StatusDraft },
			ConnectionInactive},
		"unknown standing":  {func(e *evidence.Evidence) { e.Connection.Status = "" }, ConnectionInactive},
		"connection paused": {func(e *evidence.Evidence) { e.Connection.Status = evidence.StatusPaused }, OwnerPaused},
		"never scheduled":   {func(e *evidence.Evidence) { e.Schedule = nil }, NoSchedule},
		"paused by manifest": {func(e *evidence.Evidence) { e.Refresh.RecommendedMode = manifest.RefreshPaused },
			PolicyIneligible},
		"unsafe":                 {func(e *evidence.Evidence) { e.Refresh.BackgroundSafe = &unsafe }, PolicyIneligible},
		"no policy":              {func(e *evidence.Evidence) { e.Refresh = nil }, Due},
		"manifest unreadable":    {unread(evidence.FamilyManifest), Unreadable},
		"attention unreadable":   {unread(evidence.FamilyAttention), Unreadable},
		"records unreadable":     {unread(evidence.FamilyRecords), Due},
		"gaps unreadable":        {func(e *evidence.Evidence) { e.Gaps = nil }, Due},
		"question in progress":   {question(evidence.AttentionInProgress, at(time.Second)), AttentionOpen},
		"question expired":       {question(evidence.AttentionOpen, at(0)), Due},
		"question answered":      {question(evidence.AttentionResolved, nil), Due},
		"counted":                {waits(2, nil), Due},
		"delay just over":        {waits(3, at(0)), Due},
		"delay not over":         {waits(3, at(time.Nanosecond)), InBackoff},
		"gave up, with a time":   {waits(GiveUpFailures, at(time.Hour)), GaveUp},
		"gave up until now":      {waits(GiveUpFailures, at(0)), Due},
		"turn just came":         {func(e *evidence.Evidence) { e.LastRun.StartedAt = *at(-time.Hour) }, Due},
		"turn about to come":     {func(e *evidence.Evidence) { e.LastRun.StartedAt = *at(-time.Hour + 1) }, NotYet},
		"below the safe minimum": {func(e *evidence.Evidence) { e.Refresh.MinimumIntervalSeconds = 7201 }, NotYet},
		"at the safe minimum":    {func(e *evidence.Evidence) { e.Refresh.MinimumIntervalSeconds = 7200 }, Due},
		"never ran":              {func(e *evidence.Evidence) { e.LastRun, e.LastSuccessAt = nil, nil }, Due},
		"a run failed":           {failed(evidence.Failure{Reason: "connector_exit_without_done"}), Due},
	} {
		e := ready()
		c.edit(e)
		if d := Decide(e, noon); d.Why != c.want {
			t.Errorf("%s: %s", name, d.Why)
		}
	}
}

// The next attempt is when the last of all waits is over.
func TestNextAttemptIsAfterEveryWait(t *testing.T) {
	for name, c := range map[string]struct {
		backoff, started time.Duration
		attempts         int64
		want             time.Duration
	}{
		"the failures'": {5 * time.Hour, -time.Minute, 1, 5 * time.Hour},
		"the source's":  {time.Hour, -time.Minute, 2, 4 * time.Hour},
		"the turn's":    {time.Minute, -time.Minute, -1, 59 * time.Minute},
	} {
		e := ready()
		e.LastRun.StartedAt, e.LastRun.EndedAt = *at(c.started), noon
		waits(3, at(c.backoff))(e)
		if c.attempts >= 0 {
			gaps(evidence.GapGroup{Reason: protocol.ReasonRateLimited, Count: 1, MaxAttempts: c.attempts})(e)
		}
		if d := Decide(e, noon); d.Why != InBackoff || !d.At.Equal(*at(c.want)) {
			t.Errorf("%s: %+v, want after %v", name, d, c.want)
		}
	}
}

// A newer success ends a wait of any kind; one as old as the wait does not.
func TestNewerSuccessEndsTheWait(t *testing.T) {
	for _, failures := range []int{3, GiveUpFailures} {
		e := ready()
		waits(failures, nil)(e)
		if failures < GiveUpFailures {
			e.Backoff.NextAttemptAt = at(time.Hour)
		}
		for _, success := range []time.Duration{-2 * time.Hour, -time.Hour, -time.Hour + 1} {
			e.LastSuccessAt = at(success)
			if d := Decide(e, noon); d.Due != (success > -time.Hour) {
				t.Errorf("%d failures, success at %v: %+v", failures, success, d)
			}
		}
	}
}
