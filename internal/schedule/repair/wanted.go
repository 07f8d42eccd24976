package repair

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/internal/view"
)

// ownerAction is an action of the verdict that the owner can take.
type ownerAction struct {
	*verdict.RequiredAction
	key      string
	occasion string
	reason   string
	expires  *time.Time
	primary  bool
	recorded bool // an open record exists
}

// ownerActions lists the verdict's actions that the owner can take, each key once.
func ownerActions(e *evidence.Evidence, c *view.Connection) []ownerAction {
	var out []ownerAction
	for i := range c.Verdict.RequiredActions {
		a := &c.Verdict.RequiredActions[i]
		if !a.OwnerSatisfiable() {
			continue
		}
		w := ownerAction{RequiredAction: a, primary: i == 0, reason: reasonOf(c, a.Kind)}
		if a.SatisfiedWhen.Kind == verdict.AttentionResolved && a.Remediation == nil {
			w.bindQuestions(openQuestions(e, c.ObservedAt))
		}
		r := w.record(c.ID, c.ObservedAt)
		w.key = r.Key()
		if !slices.ContainsFunc(out, func(other ownerAction) bool { return other.key == w.key }) {
			out = append(out, w)
		}
	}
	return out
}

// unknownQuestion is the occasion of a question that is not in the evidence.
const unknownQuestion = "question"

// bindQuestions makes the action specific to these questions: another question is another action.
func (w *ownerAction) bindQuestions(open []evidence.Attention) {
	w.occasion = unknownQuestion
	if len(open) == 0 {
		return
	}
	names := make([]string, len(open))
	for i := range open {
		names[i] = questionName(&open[i])
		if at := open[i].ExpiresAt; at != nil && (w.expires == nil || at.Before(*w.expires)) {
			w.expires = at
		}
	}
	slices.Sort(names)
	w.occasion = strings.Join(names, ",")
	w.reason = cmp.Or(open[0].Reason, w.reason)
}

// questionName distinguishes questions with the same id in different runs.
func questionName(q *evidence.Attention) string { return q.RunID + "/" + q.ID }

// openQuestions returns the questions that wait for the owner now.
func openQuestions(e *evidence.Evidence, now time.Time) []evidence.Attention {
	return slices.DeleteFunc(slices.Clone(e.Attention), func(q evidence.Attention) bool {
		return !q.Lifecycle.Waiting() || q.ExpiresAt != nil && !q.ExpiresAt.After(now)
	})
}

// record returns a new record of the action.
func (w *ownerAction) record(connectionID string, now time.Time) attention.AttentionRecord {
	r := attention.AttentionRecord{
		ConnectionID: connectionID, Kind: string(w.Kind), Contract: string(w.SatisfiedWhen.Kind), Occasion: w.occasion,
		Lifecycle: evidence.AttentionOpen, OpenedAt: now, UpdatedAt: now,
	}
	w.refresh(&r)
	return r
}

// refresh updates a record from the verdict. The reason of a failed confirmation stays.
func (w *ownerAction) refresh(r *attention.AttentionRecord) {
	r.Urgency, r.Words = string(w.Urgency), w.CTA
	if r.ExpiresAt == nil || w.expires == nil || !r.ExpiresAt.Equal(*w.expires) {
		r.ExpiresAt = w.expires
	}
	if !slices.Equal(r.Affects, w.Affects) || r.Affects == nil {
		r.Affects = append([]string{}, w.Affects...)
	}
	if r.Confirmations == 0 {
		r.Reason = w.reason
	}
}

func (s *check) want(key string) *ownerAction {
	for i := range s.wants {
		if s.wants[i].key == key {
			return &s.wants[i]
		}
	}
	return nil
}

// actionConditions are the conditions that an action follows from, the closest first.
var actionConditions = map[verdict.ActionKind][]string{
	verdict.Reauth: {"CredentialsValid", "CredentialContinuity"},
	verdict.AddInfo: {"AttentionClear", "LocalExporterAvailable", "BacklogClear", "RuntimeAvailable",
		"RemoteSurfaceAvailable"},
	verdict.RetryGap:         {"SourceCoverageComplete"},
	verdict.Backfill:         {"SourceCoverageComplete"},
	verdict.ReattachSchedule: {"ScheduleEligible"},
	verdict.RefreshNow:       {"CollectionSucceeded", "Fresh", "RetryPolicyClear"},
}

// reasonOf returns the code of the condition behind an action.
func reasonOf(c *view.Connection, kind verdict.ActionKind) string {
	for _, condition := range actionConditions[kind] {
		if code := failingReason(c, condition); code != "" {
			return code
		}
	}
	return string(c.Verdict.Detail.ReasonCode)
}

func failingReason(c *view.Connection, condition string) string {
	for i := range c.Verdict.Detail.Conditions {
		if f := &c.Verdict.Detail.Conditions[i]; f.Fails() && string(f.Type) == condition {
			return string(f.Reason)
		}
	}
	return ""
}

// unexplained is the reason of a failure without a reason that may be shown.
const unexplained = "collection_failed"

// failure returns the code of the newest run's failure, as in the judgement.
func (s *check) failure() string {
	return cmp.Or(failingReason(s.c, "CollectionSucceeded"), unexplained)
}
