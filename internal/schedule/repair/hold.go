package repair

import (
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/judge/cadence"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
)

// How often confirming runs may be asked for. Each one needs something new that
// the owner did, so this bounds what flaps: a script that rewrites a credential,
// a schedule that is switched to and fro.
const (
	// freeConfirmations start without a wait: an owner who mistyped a password and
	// corrects it is looking at the page.
	freeConfirmations = 3
	// confirmDelay is the wait after the last of those.
	confirmDelay = time.Minute
	// longestConfirmDelay is where the doubling ends. An owner who comes back in the
	// evening is served.
	longestConfirmDelay = 6 * time.Hour
	// confirmWindow is how long a confirmation counts towards the wait for the next.
	confirmWindow = longestConfirmDelay
	// MostConfirmations bounds them within any window: the eleventh comes at the
	// earliest 1+2+4+…+128 = 255 minutes after the first, and the twelfth another 256
	// minutes later, which is outside.
	MostConfirmations = 11
)

// Hold is what keeps a confirming run from being asked for.
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

// hold gives what keeps the run back, and until when where that is a matter of time.
func (s *scene) hold(due []*attention.Record) (Hold, *time.Time) {
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
	if w := s.e.WaitInForce(s.now); w != nil {
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

// fixed reports whether the owner has just fixed what the newest run failed
// over, so that its wait has lost its reason.
func (s *scene) fixed(due []*attention.Record) bool {
	return s.e.RunFault(s.e.LastRun) != "" &&
		slices.ContainsFunc(due, func(r *attention.Record) bool { return r.Contract == string(verdict.CredentialPresent) })
}

// notBefore is when the connection's next confirmation may be asked for: the more
// of them there were within the window, on whichever record, the later.
func (s *scene) notBefore() time.Time {
	var last time.Time
	asked := 0
	count := func(r *attention.Record, n int) {
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

// delayAfter is the wait after so many confirmations.
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
