package repair

import (
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/judge/cadence"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
)

// How often confirming runs may be requested. Each needs a new step by the owner, so these limits apply to scripts
// that rewrite a credential and to schedules that are toggled.
const (
	// freeConfirmations start without delay: an owner who mistyped a password and corrects it is waiting.
	freeConfirmations = 3
	// confirmDelay is the delay after the last of those.
	confirmDelay = time.Minute
	// longestConfirmDelay is where the doubling ends, so that an owner who returns in the evening is served.
	longestConfirmDelay = 6 * time.Hour
	// confirmWindow is how long a confirmation counts towards the next delay.
	confirmWindow = longestConfirmDelay
	// MostConfirmations is the maximum within any window. The eleventh comes at the earliest 1+2+4+…+128 = 255 minutes
	// after the first, the twelfth another 256 minutes later, which is outside.
	MostConfirmations = 11
)

// Hold is what prevents the request of a confirming run.
type Hold string

const (
	HoldRunActive        Hold = "run_active"
	HoldConfirming       Hold = "confirmation_under_way"
	HoldInactive         Hold = "connection_inactive"
	HoldTooSoon          Hold = "confirmed_too_recently"
	HoldWait             Hold = "provider_wait"
	HoldPressure         Hold = "source_pressure"
	HoldBackoff          Hold = "backoff"
	HoldChangedMeanwhile Hold = "changed_meanwhile"
)

// hold returns what prevents the run and, if time ends it, until when.
func (s *check) hold(due []*attention.AttentionRecord) (Hold, *time.Time) {
	switch {
	case s.e.Active != nil:
		return HoldRunActive, nil
	case s.plan.Confirming != nil:
		return HoldConfirming, nil
	case s.e.Connection.Status != evidence.StatusActive:
		return HoldInactive, nil
	}
	if at := s.notBefore(); at.After(s.now) {
		return HoldTooSoon, &at
	}
	if w := s.e.ActiveWait(s.now); w != nil {
		return HoldWait, &w.Until
	}
	d := cadence.Decide(s.e, s.now)
	switch {
	case d.Why == cadence.SourcePressure || d.RecoveryOnly:
		return HoldPressure, d.At
	case d.Why == cadence.InBackoff && !s.fixed(due):
		return HoldBackoff, d.At
	}
	return "", nil
}

// fixed reports whether the owner just fixed the cause of the newest run's failure, so that its backoff no longer
// applies.
func (s *check) fixed(due []*attention.AttentionRecord) bool {
	return s.e.RunFault(s.e.LastRun) != "" &&
		slices.ContainsFunc(
			due,
			func(r *attention.AttentionRecord) bool { return r.Contract == string(verdict.CredentialPresent) },
		)
}

// notBefore returns when the next confirmation may be requested. The delay grows with the number of confirmations
// within the window, on any record of the connection.
func (s *check) notBefore() time.Time {
	var last time.Time
	asked := 0
	count := func(r *attention.AttentionRecord, n int) {
		if r.ConfirmAskedAt == nil {
			return
		}
		asked += n
		if r.ConfirmAskedAt.After(last) {
			last = *r.ConfirmAskedAt
		}
	}
	for i := range s.after {
		count(&s.after[i], max(s.after[i].Confirmations, 1))
	}
	for i := range s.closed {
		count(&s.closed[i], s.closed[i].Confirmations+1)
	}
	return last.Add(delayAfter(asked))
}

// delayAfter returns the delay after so many confirmations.
func delayAfter(asked int) time.Duration {
	if asked < freeConfirmations {
		return 0
	}
	delay := confirmDelay
	for ; asked > freeConfirmations && delay < longestConfirmDelay; asked-- {
		delay *= 2
	}
	return min(delay, longestConfirmDelay)
}
