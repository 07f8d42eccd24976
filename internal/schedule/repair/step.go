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

// Plan is what a look decides.
type Plan struct {
	// Save are the records that changed. Those that are new have no id yet.
	Save []attention.Record
	// Run asks for one confirming run. Enable switches the schedule on first; then
	// the evidence is to be looked at again.
	Run    bool
	Enable bool
	// Satisfied are the records whose action was taken and awaits its run. Hold is
	// what keeps that run from being asked for, until NotBefore where time does.
	Satisfied []attention.Record
	Hold      Hold
	NotBefore *time.Time
	// Confirming is when the run was asked for that is still to end. Settled is how
	// the one ended that this look has taken into account.
	Confirming *time.Time
	Settled    evidence.RunStatus
}

// scene is one look.
type scene struct {
	e      *evidence.Evidence
	c      *view.Connection
	wants  []want
	open   []attention.Record
	closed []attention.Record
	after  []attention.Record // the open ones, as this look leaves them
	now    time.Time
	plan   Plan
}

// Step decides what becomes of a connection's records. Open are all that are
// open, closed those that were closed within the last six hours. It changes none
// of its arguments. Evidence that could not be read in full changes nothing.
func Step(e *evidence.Evidence, c view.Connection, open, closed []attention.Record, now time.Time) Plan {
	s := &scene{e: e.AsOf(now), c: &c, open: open, closed: closed, now: now}
	if e.Connection.Status == evidence.StatusRevoked {
		for i := range open {
			r := open[i]
			r.Move(evidence.AttentionCancelled, now)
			s.keep(&open[i], &r, nil)
		}
		return s.plan
	}
	if len(e.Unreadable) > 0 || e.Gaps == nil {
		return Plan{}
	}
	s.wants = wanted(s.e, s.c)
	s.advanceAll()
	for i := range s.wants {
		w := &s.wants[i]
		if !w.recorded && !s.onItsWay(w) {
			r := w.record(s.c.ID, now)
			s.keep(&attention.Record{}, &r, w)
		}
	}
	return s.plan
}

// advanceAll takes each open record on, and asks for the run that confirms those
// whose action was taken.
func (s *scene) advanceAll() {
	s.after = slices.Clone(s.open)
	var due []*attention.Record
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
		s.keep(&s.open[i], &s.after[i], s.want(s.after[i].Key()))
	}
}

// advance moves one record on, and reports whether its action was taken and
// waits for the run that confirms it.
func (s *scene) advance(r *attention.Record, w *want) (due bool) {
	if confirming(r) {
		if !s.endedSince(*r.ConfirmAskedAt) {
			return false
		}
		s.settle(r, w)
		if !r.Open() {
			return false
		}
	}
	is := s.standing(r)
	switch {
	case is.goesOn:
		r.Move(evidence.AttentionInProgress, s.now)
	case s.unconfirmed(r, is):
		return true
	case w != nil:
		// It stands.
	case is.satisfied:
		r.Move(evidence.AttentionResolved, s.now)
	case s.e.Active != nil:
		// A verdict asks for less while a run is under way. Its end decides.
	case r.ExpiresAt != nil && !r.ExpiresAt.After(s.now):
		r.Move(evidence.AttentionExpired, s.now)
	default:
		r.Move(evidence.AttentionCancelled, s.now)
	}
	return false
}

// settle draws the conclusion from the confirming run that ended.
func (s *scene) settle(r *attention.Record, w *want) {
	run := s.e.LastRun
	s.plan.Settled = run.Status
	failed := run.Status != evidence.RunSucceeded
	switch {
	case w != nil: // the same action stands again, on the same record
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

// confirm asks for one run for all records that wait for one, unless something holds it.
func (s *scene) confirm(due []*attention.Record) {
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

// keep settles the record's push, and plans to save what changed.
func (s *scene) keep(before, after *attention.Record, w *want) {
	s.notify(after, w)
	if reflect.DeepEqual(before, after) {
		return
	}
	after.UpdatedAt = s.now
	s.plan.Save = append(s.plan.Save, *after)
}

// onItsWay reports whether the action asks for nothing but a run, and one was
// asked for or will be as soon as nothing holds it: an owner who fixed something is
// not told to start a run as well.
func (s *scene) onItsWay(w *want) bool {
	coming := s.plan.Confirming != nil || len(s.plan.Satisfied) > 0 && s.plan.Hold != HoldInactive
	return coming && slices.Contains(byRun, w.SatisfiedWhen.Kind)
}

// confirming reports whether a run was asked for and the record waits for its end.
func confirming(r *attention.Record) bool {
	return r.Lifecycle == evidence.AttentionInProgress && r.ConfirmAskedAt != nil
}

// endedSince reports whether a run that started at or after the moment is over.
func (s *scene) endedSince(t time.Time) bool {
	return s.e.LastRun != nil && !s.e.LastRun.StartedAt.Before(t)
}

// offersSchedule reports whether the record asks to switch a schedule on that is
// there and off, on a connection that is in use.
func (s *scene) offersSchedule(r *attention.Record) bool {
	return r.Contract == string(verdict.ScheduleAttached) && s.e.Connection.Status == evidence.StatusActive &&
		s.e.Schedule != nil && !s.e.Schedule.Enabled
}
