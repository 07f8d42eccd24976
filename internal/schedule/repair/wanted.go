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

// want is an action of the verdict that is the owner's to take.
type want struct {
	*verdict.RequiredAction
	key      string
	occasion string
	reason   string
	expires  *time.Time
	primary  bool
	recorded bool // an open record holds it
}

// wanted lists the verdict's actions that the owner can take, each key once.
func wanted(e *evidence.Evidence, c *view.Connection) []want {
	var out []want
	for i := range c.Verdict.RequiredActions {
		a := &c.Verdict.RequiredActions[i]
		if !a.OwnerSatisfiable() {
			continue
		}
		w := want{RequiredAction: a, primary: i == 0, reason: reasonOf(c, a.Kind)}
		if a.SatisfiedWhen.Kind == verdict.AttentionResolved && a.Remediation == nil {
			w.ask(questions(e, c.ObservedAt))
		}
		r := w.record(c.ID, c.ObservedAt)
		w.key = r.Key()
		if !slices.ContainsFunc(out, func(other want) bool { return other.key == w.key }) {
			out = append(out, w)
		}
	}
	return out
}

// unknownQuestion is the occasion of a question that the evidence does not name.
const unknownQuestion = "question"

// ask makes the action one about these questions: another question is another action.
func (w *want) ask(open []evidence.Attention) {
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

// questionName tells a question from one of the same id in another run.
func questionName(q *evidence.Attention) string { return q.RunID + "/" + q.ID }

// questions are those that wait for the owner now.
func questions(e *evidence.Evidence, now time.Time) []evidence.Attention {
	return slices.DeleteFunc(slices.Clone(e.Attention), func(q evidence.Attention) bool {
		return !q.Lifecycle.Waiting() || q.ExpiresAt != nil && !q.ExpiresAt.After(now)
	})
}

// record is a new record of the action.
func (w *want) record(connectionID string, now time.Time) attention.Record {
	r := attention.Record{
		ConnectionID: connectionID, Kind: string(w.Kind), Contract: string(w.SatisfiedWhen.Kind), Occasion: w.occasion,
		Lifecycle: evidence.AttentionOpen, OpenedAt: now, UpdatedAt: now,
	}
	w.refresh(&r)
	return r
}

// refresh brings a record up to date with what the verdict says. The reason of a
// confirmation that failed stays.
func (w *want) refresh(r *attention.Record) {
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

func (s *scene) want(key string) *want {
	for i := range s.wants {
		if s.wants[i].key == key {
			return &s.wants[i]
		}
	}
	return nil
}

// behind are the conditions that an action follows from, the closest first.
var behind = map[verdict.ActionKind][]string{
	verdict.Reauth:           {"CredentialsValid", "CredentialContinuity"},
	verdict.AddInfo:          {"AttentionClear", "LocalExporterAvailable", "BacklogClear", "RuntimeAvailable", "RemoteSurfaceAvailable"},
	verdict.RetryGap:         {"SourceCoverageComplete"},
	verdict.Backfill:         {"SourceCoverageComplete"},
	verdict.ReattachSchedule: {"ScheduleEligible"},
	verdict.RefreshNow:       {"CollectionSucceeded", "Fresh", "RetryPolicyClear"},
}

// reasonOf is the code of the condition behind an action.
func reasonOf(c *view.Connection, kind verdict.ActionKind) string {
	for _, condition := range behind[kind] {
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

// unexplained is the reason of a failure that gave none that may be shown.
const unexplained = "collection_failed"

// failure is the code of the newest run's failure, as the judgement shows it.
func (s *scene) failure() string {
	return cmp.Or(failingReason(s.c, "CollectionSucceeded"), unexplained)
}
