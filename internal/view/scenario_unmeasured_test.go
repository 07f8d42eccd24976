package view_test

import (
	"fmt"
	"testing"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/health"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/internal/view"
)

// losses returns functions that each remove one measurement. Absences that are facts, such as no schedule or no
// device, are not among them. Nor are three cases with enough other evidence: a run without counts is judged by its
// end, an active device outweighs a silent one, and a paused connection is idle whatever its devices report.
func losses(e *evidence.Evidence) (out []func()) {
	lose := func(measured bool, f func()) {
		if measured {
			out = append(out, f)
		}
	}
	lose(e.Records != nil, func() { e.Records = nil })
	lose(e.Rate != nil, func() { e.Rate = nil })
	lose(e.LastSuccessAt != nil, func() { e.LastSuccessAt = nil })
	if c := e.Credential; c != nil {
		lose(c.RejectedAt != nil, func() { c.RejectedAt = nil })
	}
	if r := e.LastRun; r != nil {
		lose(true, func() { r.Committed = nil })
		lose(true, func() { r.Recovered = nil })
	}
	if g := e.Gaps; g != nil {
		lose(true, func() { e.Gaps = nil })
		lose(true, func() { g.Recovered = nil })
		lose(true, func() { g.Terminal = nil })
	}
	for i := range e.Streams {
		s := &e.Streams[i]
		lose(s.Retained != nil, func() { s.Retained = nil })
		lose(s.Fact != nil, func() { s.Fact = nil })
		if f := s.Fact; f != nil && f.Considered != nil && f.Covered != nil {
			lose(true, func() { f.Considered = nil })
			lose(true, func() { f.Covered = nil })
		}
	}
	if d := e.Device; d != nil {
		lose(d.Stores != nil, func() { d.Stores = nil })
		lose(d.LastIngestAt != nil, func() { d.LastIngestAt = nil })
		paused := e.Connection.Status == evidence.StatusPaused || e.Schedule != nil && !e.Schedule.Enabled
		if len(d.Sources) == 1 && !paused {
			s := &d.Sources[0]
			lose(s.Heartbeat != nil, func() { s.Heartbeat = nil })
			if h := s.Heartbeat; h != nil {
				lose(true, func() { h.Pending = nil })
				lose(true, func() { h.Outbox = nil })
				lose(true, func() { h.Pending, h.Outbox = nil, nil })
			}
		}
	}
	for _, f := range evidence.Families {
		lose(true, func() { e.Unreadable = append(e.Unreadable, f) })
	}
	return out
}

// TestUnmeasuredNeverLooksHealthier takes every measurement away in turn.
//
//pdpp:tier unraced
func TestUnmeasuredNeverLooksHealthier(t *testing.T) {
	forMany(t, 12_000, func(i uint64) (*evidence.Evidence, error) {
		e := newMaker(3, i).evidence()
		before := view.Judge(e, judgedAt, true)
		for k := range losses(e) {
			less := newMaker(3, i).evidence()
			losses(less)[k]()
			after := view.Judge(less, judgedAt, true)
			if after.Verdict.Pill.Tone == verdict.Green && before.Verdict.Pill.Tone != verdict.Green ||
				after.Health.State == health.Healthy && before.Health.State != health.Healthy {
				return e, fmt.Errorf("without measurement %d %s, %s became %s, %s", k,
					before.Health.State, before.Verdict.Pill.Tone, after.Health.State, after.Verdict.Pill.Tone)
			}
		}
		return e, nil
	})
}

// TestEveryConditionIsReachable fails for a row of the table that no evidence leads to.
func TestEveryConditionIsReachable(t *testing.T) {
	seen := map[string]bool{}
	forMany(t, 8_000, func(i uint64) (*evidence.Evidence, error) {
		e := newMaker(4, i).evidence()
		for _, c := range view.Judge(e, judgedAt, true).Health.Conditions {
			seen[fmt.Sprint(c.Type, " ", c.Status, " ", c.Severity, " ", c.Reason)] = true
		}
		return e, nil
	})
	// Every stalled heartbeat has a cause, so the first two are for one that would
	// come without. A required stream that is only listed contradicts its manifest,
	// so the third is for the axis's own value.
	spare := map[string]bool{
		"LocalExporterAvailable false error local_exporter_stalled": true,
		"BacklogClear false error outbox_stalled":                   true,
		"SourceCoverageComplete true info inventory_only":           true,
	}
	for _, table := range health.Tables() {
		if table.Name != "conditions" {
			continue
		}
		for _, row := range table.Rows {
			if id := fmt.Sprint(row[0], " ", row[1], " ", row[2], " ", row[3]); seen[id] == spare[id] {
				t.Errorf("%s: reached %v", id, seen[id])
			}
		}
	}
}
