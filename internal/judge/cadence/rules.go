package cadence

import (
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
)

// situation is the evidence together with values that several rules need.
type situation struct {
	*evidence.Evidence
	now      time.Time
	turn     time.Time         // when the next scheduled run is due; zero without a schedule
	backoff  *evidence.Backoff // nil when none is in force
	wait     *time.Time        // until when the provider must not be asked; nil when it may be asked now
	cooldown *time.Time        // when the cool-down ends; nil when there is none
}

func readSituation(e *evidence.Evidence, now time.Time) situation {
	s := situation{Evidence: e, now: now, backoff: CurrentBackoff(e)}
	if w := e.ActiveWait(now); w != nil {
		s.wait = &w.Until
	}
	if hasSchedule(e) {
		s.turn = nextScheduled(e, now)
		s.cooldown = cooldownEnd(e, now)
	}
	return s
}

// scheduleRule is one row of the scheduling policy.
type scheduleRule struct {
	Name     string
	When     string
	Why      Reason
	recovery bool
	match    func(*situation) bool
	at       func(*situation) *time.Time // nil when no passage of time matters
}

// scheduleRules are tried in order; the first match decides. Rules that only the owner can change come before those
// that pass with time.
var scheduleRules = []scheduleRule{
	{Name: "run under way", When: "a run holds the connection", Why: Running,
		match: func(s *situation) bool { return s.Active != nil }},
	{Name: "not in use", When: "the connection is revoked or not set up yet", Why: ConnectionInactive,
		match: func(s *situation) bool {
			return s.Connection.Status != evidence.StatusActive && s.Connection.Status != evidence.StatusPaused
		}},
	{Name: "facts missing", When: "a fact that a rule below needs could not be read", Why: Unreadable,
		match: (*situation).unreadable},
	{Name: "paused by the owner", When: "the connection or its schedule is paused", Why: OwnerPaused,
		match: func(s *situation) bool {
			return s.Connection.Status == evidence.StatusPaused || s.Schedule != nil && !s.Schedule.Enabled
		}},
	{Name: "no rhythm", When: "the connection has no schedule", Why: NoSchedule,
		match: func(s *situation) bool { return !hasSchedule(s.Evidence) }},
	{Name: "owner starts it", When: "the manifest says manual, paused or not safe in the background",
		Why:   PolicyIneligible,
		match: func(s *situation) bool { return s.Refresh.ManualOnly() }},
	{Name: "open question", When: "a question waits for the owner", Why: AttentionOpen,
		match: (*situation).questionOpen},
	{Name: "credential refused",
		When:  "the credential was refused or revoked, and neither a success nor a new credential came since",
		Why:   CredentialRejected,
		match: (*situation).credentialRefused},
	{Name: "gave up", When: "the same failure came back too often, and no run succeeded since", Why: GaveUp,
		match: func(s *situation) bool {
			return s.backoff != nil && s.backoff.Failures >= GiveUpFailures && !s.reached(s.backoff.NextAttemptAt)
		}},
	{Name: "provider waits", When: "the provider named a time before which it is not to be asked, or the governor found " +
		"one, and that is after the turn", Why: ProviderWait,
		match: func(s *situation) bool { return s.wait != nil && s.wait.After(s.turn) },
		at:    func(s *situation) *time.Time { return s.latest(s.wait) }},
	{Name: "waits after failures", When: "a delay after failures is not over, and no run succeeded since", Why: InBackoff,
		match: func(s *situation) bool {
			return s.backoff != nil && s.backoff.NextAttemptAt != nil && !s.reached(s.backoff.NextAttemptAt)
		},
		at: func(s *situation) *time.Time { return s.latest(s.backoff.NextAttemptAt) }},
	{Name: "recovers meanwhile",
		When: "the source is under pressure, the turn has come, and a gap of another kind can be retried", Why: Due,
		recovery: true,
		match: func(s *situation) bool {
			return s.cooldown != nil && s.turnReached() && s.reached(recoverableFrom(s.Gaps, s.turn))
		},
		at: func(s *situation) *time.Time { return &s.turn }},
	{Name: "source under pressure", When: "the source's own refusals left gaps, and the cool-down is not over",
		Why:   SourcePressure,
		match: func(s *situation) bool { return s.cooldown != nil },
		at:    (*situation).afterPressure},
	{Name: "not its turn", When: "the interval since the last run's start, with its jitter, is not over", Why: NotYet,
		match: func(s *situation) bool { return !s.turnReached() },
		at:    func(s *situation) *time.Time { return &s.turn }},
	{Name: "its turn", When: "otherwise", Why: Due,
		match: func(*situation) bool { return true },
		at:    func(s *situation) *time.Time { return &s.turn }},
}

// Decide returns whether a scheduled run of the connection may start now. It does not modify the evidence.
func Decide(e *evidence.Evidence, now time.Time) Decision {
	s := readSituation(e.AsOf(now), now)
	return s.decision()
}

func (s *situation) decision() Decision {
	r := s.decide()
	d := Decision{Due: r.Why == Due, RecoveryOnly: r.recovery, Why: r.Why}
	if r.at != nil {
		d.At = r.at(s)
	}
	return d
}

func (s *situation) decide() *scheduleRule {
	for i := range scheduleRules {
		if scheduleRules[i].match(s) {
			return &scheduleRules[i]
		}
	}
	return &scheduleRules[len(scheduleRules)-1]
}

// requiredFamilies must be readable. Without one of them a run could start that the owner, the manifest or the last
// run forbids.
var requiredFamilies = []evidence.Family{
	evidence.FamilyManifest, evidence.FamilyRuns, evidence.FamilySchedule, evidence.FamilyCredential,
	evidence.FamilyAttention,
}

func (s *situation) unreadable() bool {
	return slices.ContainsFunc(s.Unreadable, func(f evidence.Family) bool { return slices.Contains(requiredFamilies, f) })
}

func (s *situation) questionOpen() bool {
	return slices.ContainsFunc(s.Attention, func(a evidence.Attention) bool {
		return a.Lifecycle.Waiting() &&
			!s.reached(a.ExpiresAt)
	})
}

// credentialRefused reports whether a run would only repeat a refusal.
func (s *situation) credentialRefused() bool {
	_, refused := s.CredentialRefusal(s.now)
	return refused
}

// reached reports whether the time has come; nil never does.
func (s *situation) reached(t *time.Time) bool { return t != nil && !t.After(s.now) }

func (s *situation) turnReached() bool { return !s.turn.After(s.now) }

// afterPressure returns when the next attempt may start during a cool-down. That is when a gap of another kind may be
// retried, but not before the scheduled time; else the end of the cool-down.
func (s *situation) afterPressure() *time.Time {
	end := s.latest(s.cooldown)
	if from := recoverableFrom(s.Gaps, s.turn); from != nil && from.Before(*end) {
		return from
	}
	return end
}

// latest returns the time at which no delay holds the connection any more.
func (s *situation) latest(t *time.Time) *time.Time {
	at := s.turn
	times := [...]*time.Time{t, s.wait, s.cooldown, nil}
	if s.backoff != nil {
		times[3] = s.backoff.NextAttemptAt
	}
	for _, other := range times {
		if other != nil && other.After(at) {
			at = *other
		}
	}
	return &at
}
