package health

import (
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
)

// Project judges a connection: its conditions, their headline and the other input of a verdict. It does not modify
// the evidence, and the result may share memory with it.
func Project(e *evidence.Evidence, now time.Time) Assessment {
	e = e.AsOf(now)
	r := newReading(e, now)
	conditions := r.conditions()
	b := newBoard(conditions, &r)
	rule, h := b.decide()
	s := Snapshot{
		State: rule.State, ReasonCode: h.reason, Conditions: conditions,
		Axes: Axes{
			Attention: r.attention, Coverage: r.coverage.axis, Freshness: r.freshness,
			Outbox: r.outbox.Axis, RemoteSurface: r.surface,
		},
		Badges:      Badges{Stale: r.freshness == Stale, Syncing: e.Syncing(now)},
		Disposition: r.disposition(),
		Backlog:     RollUpBacklog(e.Gaps), Rate: rateOf(e.Rate),
		LastSuccessAt: e.LastSuccessAt, NextAttemptAt: r.nextAttempt(),
		NextAction: r.nextAction(), UnknownReasons: r.unreadable(),
	}
	if h.dominant != nil {
		s.DominantID = Text(h.dominant.ID)
	}
	s.SupportingIDs = supporting(&s)
	m := r.collectionMode()
	a := Assessment{Snapshot: s, Rule: Rule{Name: rule.Name, When: rule.When}, Streams: r.streams(), Progress: &m.progress,
		Schedule: &m.schedule, Local: ReadLocalProgress(e)}
	if e.Refresh != nil {
		a.Refresh = &m.refresh
	}
	return a
}

// disposition returns whether the connection's missing data can still arrive.
func (r *reading) disposition() Disposition {
	c := r.coverage.axis
	if r.coverage.contradiction {
		c = r.behindContradiction()
	}
	return DeriveDisposition(DispositionInput{
		Coverage: c, Attention: r.attention != AttentionNone, Freshness: r.freshness, ManualOnly: r.manualOnly,
	})
}

// behindContradiction returns the worst coverage apart from the contradicting declaration, at best unknown: such a
// manifest leaves open whether anything is missing.
func (r *reading) behindContradiction() Coverage {
	worst := CoverageUnknown
	if c := runCoverage(r.Evidence, undeclaredGaps(r.Evidence)); worseCoverage(c, worst) {
		worst = c
	}
	for i := range r.Streams {
		if c := streamCoverage(r.Evidence, &r.Streams[i]); r.Streams[i].Required && worseCoverage(c, worst) {
			worst = c
		}
	}
	return worst
}

// maxSupporting limits the list of supporting conditions.
const maxSupporting = 6

// supporting lists the dominant condition, followed by the conditions that are not plain.
func supporting(s *Snapshot) []string {
	notable := 1
	for i := range s.Conditions {
		if !s.Conditions[i].plain() {
			notable++
		}
	}
	ids := make([]string, 0, min(notable, maxSupporting))
	if s.DominantID != "" {
		ids = append(ids, string(s.DominantID))
	}
	for i := range s.Conditions {
		c := &s.Conditions[i]
		if len(ids) < maxSupporting && !c.plain() && !slices.Contains(ids, c.ID) {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// plain reports whether the condition is good or not applicable.
func (c *Condition) plain() bool {
	return c.Status == NotApplicable || c.Status == True && c.Severity == Info
}

// nextAttempt returns when collection continues without the owner, by the scheduler's own policy. It is now for a due
// run, and nil if time does not start one. A requested run starts when the provider wait is over.
func (r *reading) nextAttempt() *time.Time {
	if r.timing.Due {
		return r.seen
	}
	if w := r.ActiveWait(r.now); w != nil && r.RequestedAt != nil && r.Active == nil {
		return &w.Until
	}
	return r.timing.At
}

func (r *reading) nextAction() *NextAction {
	q := r.question
	if q == nil {
		return nil
	}
	reason, _ := safeReason(q.Reason, attentionRequired.Reason)
	a := &NextAction{Source: "structured", AttentionID: Text(q.ID), ReasonCode: Text(reason), ExpiresAt: q.ExpiresAt}
	if q.Sensitivity != "secret" {
		a.Target = Text(q.Target)
	}
	return a
}

func rateOf(r *evidence.Rate) *RunPace {
	if r == nil {
		return nil
	}
	return &r.Pace
}
