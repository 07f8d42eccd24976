package repair

import (
	"reflect"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/internal/view"
)

// Plan is the decision of one check.
type Plan struct {
	// Save are the changed records. New ones have no id yet.
	Save []attention.AttentionRecord
	// Run requests one confirming run. Enable turns the schedule on first; then the evidence is checked again.
	Run    bool
	Enable bool
	// Satisfied are the records with a completed action that needs a run. Hold is what prevents that run, until
	// NotBefore if time ends it.
	Satisfied []attention.AttentionRecord
	Hold      Hold
	NotBefore *time.Time
	// Confirming is when the run was requested that has not ended. Settled is how the run ended that this check
	// evaluated.
	Confirming *time.Time
	Settled    evidence.RunStatus
}

// check is one check of a connection.
type check struct {
	e      *evidence.Evidence
	c      *view.Connection
	wants  []ownerAction
	open   []attention.AttentionRecord
	closed []attention.AttentionRecord
	after  []attention.AttentionRecord // the open records after this check
	now    time.Time
	plan   Plan
}

// Step decides how a connection's records change. Open are all open records, closed those that closed within the last
// six hours. It does not modify its arguments. Incomplete evidence changes nothing.
func Step(e *evidence.Evidence, c view.Connection, open, closed []attention.AttentionRecord, now time.Time) Plan {
	s := &check{e: e.AsOf(now), c: &c, open: open, closed: closed, now: now}
	if e.Connection.Status == evidence.StatusRevoked {
		for i := range open {
			r := open[i]
			r.Move(evidence.AttentionCancelled, now)
			s.saveChanges(&open[i], &r, nil)
		}
		return s.plan
	}
	if len(e.Unreadable) > 0 || e.Gaps == nil {
		return Plan{}
	}
	s.wants = ownerActions(s.e, s.c)
	s.advanceAll()
	for i := range s.wants {
		w := &s.wants[i]
		if !w.recorded && !s.runExpected(w) {
			r := w.record(s.c.ID, now)
			s.saveChanges(&attention.AttentionRecord{}, &r, w)
		}
	}
	return s.plan
}

// advanceAll updates each open record, and requests the run that confirms completed actions.
func (s *check) advanceAll() {
	s.after = slices.Clone(s.open)
	var due []*attention.AttentionRecord
	for i := range s.after {
		r := &s.after[i]
		w := s.want(r.Key())
		if w != nil {
			w.recorded = true
			w.refresh(r)
		}
		if s.advance(r, w) {
			due = append(due, r)
		}
		if r.Lifecycle == evidence.AttentionAcknowledged && s.offersSchedule(r) {
			s.plan.Enable = true
		}
		if confirming(r) {
			s.plan.Confirming = r.ConfirmAskedAt
		}
	}
	if s.plan.Confirming != nil {
		s.plan.Hold = HoldConfirming
	}
	if len(due) > 0 {
		s.confirm(due)
	}
	for i := range s.after {
		s.saveChanges(&s.open[i], &s.after[i], s.want(s.after[i].Key()))
	}
}

// advance updates one record, and reports whether its action is done and needs a confirming run.
func (s *check) advance(r *attention.AttentionRecord, w *ownerAction) (due bool) {
	if confirming(r) {
		if !s.endedSince(*r.ConfirmAskedAt) {
			return false
		}
		s.concludeRun(r, w)
		if !r.Open() {
			return false
		}
	}
	is := s.contractState(r)
	switch {
	case is.goesOn:
		r.Move(evidence.AttentionInProgress, s.now)
	case s.unconfirmed(r, is):
		return true
	case w != nil:
		// The action is still required.
	case is.satisfied:
		r.Move(evidence.AttentionResolved, s.now)
	case s.e.Active != nil:
		// A verdict asks for less during a run. Its end decides.
	case r.ExpiresAt != nil && !r.ExpiresAt.After(s.now):
		r.Move(evidence.AttentionExpired, s.now)
	default:
		r.Move(evidence.AttentionCancelled, s.now)
	}
	return false
}

// concludeRun evaluates the confirming run that ended.
func (s *check) concludeRun(r *attention.AttentionRecord, w *ownerAction) {
	run := s.e.LastRun
	s.plan.Settled = run.Status
	failed := run.Status != evidence.RunSucceeded
	switch {
	case w != nil: // the same action is required again, on the same record
		r.Move(evidence.AttentionOpen, s.now)
		r.Confirmations++
		if failed {
			r.Reason = s.failure()
		}
	case failed && len(s.wants) > 0:
		r.Move(evidence.AttentionSuperseded, s.now)
	default:
		r.Move(evidence.AttentionResolved, s.now)
	}
}

// confirm requests one run for all records that need one, unless something prevents it.
func (s *check) confirm(due []*attention.AttentionRecord) {
	s.plan.Hold, s.plan.NotBefore = s.hold(due)
	if s.plan.Hold == "" {
		s.plan.Run = true
		for _, r := range due {
			r.Move(evidence.AttentionInProgress, s.now)
			asked := s.now
			r.ConfirmAskedAt = &asked
		}
	}
	for _, r := range due {
		s.plan.Satisfied = append(s.plan.Satisfied, *r)
	}
}

// saveChanges sets the record's notification and saves the record if it changed.
func (s *check) saveChanges(before, after *attention.AttentionRecord, w *ownerAction) {
	s.notify(after, w)
	if reflect.DeepEqual(before, after) {
		return
	}
	after.UpdatedAt = s.now
	s.plan.Save = append(s.plan.Save, *after)
}

// runExpected reports whether the action needs only a run, and one is requested or will be. An owner who fixed
// something is not asked to start a run as well.
func (s *check) runExpected(w *ownerAction) bool {
	coming := s.plan.Confirming != nil || len(s.plan.Satisfied) > 0 && s.plan.Hold != HoldInactive
	return coming && slices.Contains(runContracts, w.SatisfiedWhen.Kind)
}

// confirming reports whether a run was requested and the record waits for its end.
func confirming(r *attention.AttentionRecord) bool {
	return r.Lifecycle == evidence.AttentionInProgress && r.ConfirmAskedAt != nil
}

// endedSince reports whether a run that started at or after the time has ended.
func (s *check) endedSince(t time.Time) bool {
	return s.e.LastRun != nil && !s.e.LastRun.StartedAt.Before(t)
}

// offersSchedule reports whether the record asks to turn on an existing, disabled schedule of an active connection.
func (s *check) offersSchedule(r *attention.AttentionRecord) bool {
	return r.Contract == string(verdict.ScheduleAttached) && s.e.Connection.Status == evidence.StatusActive &&
		s.e.Schedule != nil && !s.e.Schedule.Enabled
}
