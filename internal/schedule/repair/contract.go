package repair

import (
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
)

// contractState compares the evidence with a record's contract.
type contractState struct {
	// satisfied means that the contract is fulfilled.
	satisfied bool
	// fixedAt is when the owner did something that only a run can prove; zero if no run is needed.
	fixedAt time.Time
	// goesOn means that the run that asked received its answer and is still active.
	goesOn bool
}

// runContracts are fulfilled by a run, however it is started.
var runContracts = []verdict.Contract{verdict.ConfirmingRun, verdict.GapRecovered, verdict.BackfillCovered}

// contractState evaluates the record's contract against the evidence, for every kind of action.
func (s *check) contractState(r *attention.AttentionRecord) contractState {
	switch verdict.Contract(r.Contract) {
	case verdict.CredentialPresent:
		return s.credential(r)
	case verdict.ScheduleAttached:
		return s.schedule(r)
	case verdict.AttentionResolved:
		if r.Occasion == "" {
			return contractState{satisfied: s.c.Recovery == nil} // no uploads are stalled
		}
		return s.question(r)
	case verdict.ConfirmingRun:
		run := s.e.LastRun
		return contractState{satisfied: run != nil && run.Status == evidence.RunSucceeded &&
			!run.StartedAt.Before(r.OpenedAt)}
	case verdict.GapRecovered:
		return contractState{satisfied: s.complete(r.Affects) || s.nothingMissing()}
	case verdict.BackfillCovered:
		return contractState{satisfied: s.complete(r.Affects)}
	default:
		return contractState{}
	}
}

// credential is satisfied by a stored credential that is not refused. A credential outside the store is proven only
// by a successful run.
func (s *check) credential(r *attention.AttentionRecord) contractState {
	c := s.e.Credential
	if _, refused := s.e.CredentialRefusal(s.now); refused {
		return contractState{}
	}
	if c == nil || c.Status != evidence.CredentialActive {
		return contractState{satisfied: s.e.SucceededSince(r.OpenedAt)}
	}
	return contractState{satisfied: true, fixedAt: c.CapturedAt}
}

// schedule is satisfied by an enabled schedule. For a connection that was paused, the time of reactivation is
// unknown; the record's opening is used, so at most one run is requested.
func (s *check) schedule(r *attention.AttentionRecord) contractState {
	plan := s.e.Schedule
	if plan == nil || !plan.Enabled || s.e.Connection.Status != evidence.StatusActive {
		return contractState{}
	}
	fixed := plan.UpdatedAt
	if fixed.Before(r.OpenedAt) {
		fixed = r.OpenedAt
	}
	return contractState{satisfied: true, fixedAt: fixed}
}

// question is satisfied if the question is no longer open. If it ended together with its run, or the owner declined
// or let it expire, it counts as unanswered: another run would only ask again.
func (s *check) question(r *attention.AttentionRecord) contractState {
	waits := func(q evidence.Attention) bool {
		return strings.Contains(","+r.Occasion+",", ","+questionName(&q)+",")
	}
	if slices.ContainsFunc(openQuestions(s.e, s.now), waits) {
		return contractState{}
	}
	runID, _, _ := strings.Cut(r.Occasion, "/")
	answered := r.Lifecycle == evidence.AttentionInProgress
	if s.e.Active != nil && s.e.Active.ID == runID {
		return contractState{goesOn: r.ConfirmAskedAt == nil}
	}
	run := s.e.LastRun
	if run != nil && run.ID == runID && run.Unanswered {
		return contractState{}
	}
	if answered && run != nil && run.ID == runID && run.Status != evidence.RunSucceeded {
		return contractState{satisfied: true, fixedAt: run.EndedAt}
	}
	return contractState{satisfied: answered || s.e.SucceededSince(r.OpenedAt)}
}

// complete reports whether the verdict rates each of the streams as complete. Streams that the manifest no longer has
// are ignored.
func (s *check) complete(streams []string) bool {
	for i := range s.c.Verdict.Streams {
		row := &s.c.Verdict.Streams[i]
		if string(row.Coverage) != "complete" && slices.Contains(streams, row.StreamID) {
			return false
		}
	}
	return len(streams) > 0
}

// nothingMissing reports whether no gap waits. During a run the answer is no.
func (s *check) nothingMissing() bool {
	return s.e.Active == nil &&
		!slices.ContainsFunc(s.e.Gaps.Groups, func(g evidence.GapGroup) bool { return g.Count > 0 })
}

// unconfirmed reports whether the owner did something for the record that no run has tried yet. Its time may precede
// the record: it is committed after it is dated, and clocks differ. Device-fed connections are confirmed by their
// uploads.
func (s *check) unconfirmed(r *attention.AttentionRecord, is contractState) bool {
	if !is.satisfied || is.fixedAt.IsZero() || s.e.LocalDevice() {
		return false
	}
	if r.ConfirmAskedAt != nil && !is.fixedAt.After(*r.ConfirmAskedAt) {
		return false
	}
	return !s.endedSince(is.fixedAt)
}
