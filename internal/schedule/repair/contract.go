package repair

import (
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
)

// standing is how the evidence stands to what a record asks for.
type standing struct {
	// satisfied says that the contract is met.
	satisfied bool
	// fixedAt is when the owner did what only a run can prove; zero where no run
	// is needed for it.
	fixedAt time.Time
	// goesOn says that the run that asked was answered and is still at work.
	goesOn bool
}

// byRun are the contracts that a run satisfies, whoever starts it.
var byRun = []verdict.Contract{verdict.ConfirmingRun, verdict.GapRecovered, verdict.BackfillCovered}

// standing holds the record's contract against the evidence. It is the one
// mechanism for every kind of action.
func (s *scene) standing(r *attention.Record) standing {
	switch verdict.Contract(r.Contract) {
	case verdict.CredentialPresent:
		return s.credential(r)
	case verdict.ScheduleAttached:
		return s.schedule(r)
	case verdict.AttentionResolved:
		if r.Occasion == "" {
			return standing{satisfied: s.c.Recovery == nil} // no uploads are stalled
		}
		return s.question(r)
	case verdict.ConfirmingRun:
		run := s.e.LastRun
		return standing{satisfied: run != nil && run.Status == evidence.RunSucceeded && !run.StartedAt.Before(r.OpenedAt)}
	case verdict.GapRecovered:
		return standing{satisfied: s.complete(r.Affects) || s.nothingMissing()}
	case verdict.BackfillCovered:
		return standing{satisfied: s.complete(r.Affects)}
	default:
		return standing{}
	}
}

// credential is satisfied by a stored credential that nothing refuses. One that
// is kept elsewhere shows only in a run that succeeded with it.
func (s *scene) credential(r *attention.Record) standing {
	c := s.e.Credential
	if _, refused := s.e.CredentialRefusal(s.now); refused {
		return standing{}
	}
	if c == nil || c.Status != evidence.CredentialActive {
		return standing{satisfied: s.e.SucceededSince(r.OpenedAt)}
	}
	return standing{satisfied: true, fixedAt: c.CapturedAt}
}

// schedule is satisfied by a schedule that is on. A connection that was paused
// and is active again does not say since when: then the record's opening stands
// for it, after which at most one run is asked for.
func (s *scene) schedule(r *attention.Record) standing {
	plan := s.e.Schedule
	if plan == nil || !plan.Enabled || s.e.Connection.Status != evidence.StatusActive {
		return standing{}
	}
	fixed := plan.UpdatedAt
	if fixed.Before(r.OpenedAt) {
		fixed = r.OpenedAt
	}
	return standing{satisfied: true, fixedAt: fixed}
}

// question is satisfied when what was asked waits no more. Whether it was
// answered shows while its run goes on; a question that ended together with its
// run was left open, and another run would only ask it again. So it would where the
// owner refused, or let the time pass.
func (s *scene) question(r *attention.Record) standing {
	waits := func(q evidence.Attention) bool {
		return strings.Contains(","+r.Occasion+",", ","+questionName(&q)+",")
	}
	if slices.ContainsFunc(questions(s.e, s.now), waits) {
		return standing{}
	}
	runID, _, _ := strings.Cut(r.Occasion, "/")
	answered := r.Lifecycle == evidence.AttentionInProgress
	if s.e.Active != nil && s.e.Active.ID == runID {
		return standing{goesOn: r.ConfirmAskedAt == nil}
	}
	run := s.e.LastRun
	if run != nil && run.ID == runID && run.Unanswered {
		return standing{}
	}
	if answered && run != nil && run.ID == runID && run.Status != evidence.RunSucceeded {
		return standing{satisfied: true, fixedAt: run.EndedAt}
	}
	return standing{satisfied: answered || s.e.SucceededSince(r.OpenedAt)}
}

// complete reports whether the judgement calls each of the streams complete. One
// that the manifest no longer has is not waited for.
func (s *scene) complete(streams []string) bool {
	for i := range s.c.Verdict.Streams {
		row := &s.c.Verdict.Streams[i]
		if string(row.Coverage) != "complete" && slices.Contains(streams, row.StreamID) {
			return false
		}
	}
	return len(streams) > 0
}

// nothingMissing reports whether no gap waits. While a run is under way that is
// not yet said.
func (s *scene) nothingMissing() bool {
	return s.e.Active == nil && !slices.ContainsFunc(s.e.Gaps.Groups, func(g evidence.GapGroup) bool { return g.Count > 0 })
}

// unconfirmed reports whether the owner has done something new for the record
// that no run has tried yet. It may be dated before the record, which was opened
// by a look that did not see it: what is dated is committed later, and clocks
// differ. What a device feeds is confirmed by its own upload.
func (s *scene) unconfirmed(r *attention.Record, is standing) bool {
	if !is.satisfied || is.fixedAt.IsZero() || s.e.LocalDevice() {
		return false
	}
	if r.ConfirmAskedAt != nil && !is.fixedAt.After(*r.ConfirmAskedAt) {
		return false
	}
	return !s.endedSince(is.fixedAt)
}
