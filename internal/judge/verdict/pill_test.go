package verdict

import (
	"testing"

	"github.com/pdpp-go/pdpp/internal/judge/health"
)

func TestStaleButOtherwiseGreenStaysHealthy(t *testing.T) {
	t.Attr("spec", "CH-22.1")
	for _, s := range []health.State{health.Healthy, health.Idle} {
		v := judge(t, healthy(staleManual, state(s)))
		wantPill(t, v, Green, "Healthy")
		wantFreshnessNote(t, v, "Last refreshed 9 days ago")
	}
	v := judge(t, healthy(freshness(health.Stale, 3)))
	wantPill(t, v, Green, "Healthy")
	wantFreshnessNote(t, v, "Older than planned, last collected 3 days ago")
	wantNone(t, v.ForwardStatement, "up to date", "current", "normally")
}

func TestUnknownFreshnessIsChecking(t *testing.T) {
	t.Attr("spec", "CH-22.2")
	v := judge(t, healthy(state(health.Idle), freshness(health.FreshnessUnknown, 0)))
	wantPill(t, v, Grey, "Checking")
	wantFreshnessNote(t, v, "Freshness not known yet")
	wantNone(t, v.ForwardStatement, "up to date", "current", "normally", "collecting")

	t.Run("a stronger signal wins over it", func(t *testing.T) {
		v := judge(t, healthy(state(health.Degraded), freshness(health.FreshnessUnknown, 0)))
		wantPill(t, v, Amber, "Degraded")
	})
}

func TestWorstAxisWinsOverHealthyState(t *testing.T) {
	t.Attr("spec", "CH-22.3")
	cases := map[health.Coverage]Pill{
		health.Partial: {Amber, "Degraded"}, health.RetryableGap: {Amber, "Degraded"}, health.Gapped: {Amber, "Degraded"},
		health.TerminalGap: {Red, "Can't collect"}, health.CoverageUnknown: {Grey, "Checking"},
		"not_a_coverage": {Grey, "Checking"},
	}
	for coverage, want := range cases {
		in := healthy()
		in.Streams[1].Coverage = coverage // the connection's own axis is still complete
		v := judge(t, in)
		wantPill(t, v, want.Tone, want.Label)
		if v.Trace.ToneCause != "coverage" {
			t.Errorf("%s: tone caused by %s", coverage, v.Trace.ToneCause)
		}
	}
}

func TestCollectedNeverAboveConsidered(t *testing.T) {
	t.Attr("spec", "CH-22.4")
	in := healthy()
	in.Streams[0].Collected, in.Streams[0].Considered = ptr[int64](3), ptr[int64](2)
	in.Streams[1].Collected, in.Streams[1].Considered = ptr[int64](1), ptr[int64](2)
	in.Streams[2].Collected = ptr[int64](7)
	rows := judge(t, in).Streams
	if *rows[0].Collected != 2 || *rows[1].Collected != 1 || *rows[2].Collected != 7 || rows[2].Considered != nil {
		t.Errorf("rows %+v", rows)
	}
	if *in.Streams[0].Collected != 3 {
		t.Error("the evidence was changed")
	}
	for _, c := range []health.Coverage{health.CoverageUnknown, health.TerminalGap, health.Unsupported,
		health.Unavailable} {
		in := healthy(gap(c, health.DeriveDisposition(health.DispositionInput{Coverage: c})))
		wantNone(t, judge(t, in).Streams[0].Statement, "resum", "retry", "refresh", "run", "again", "expected")
	}
}

func TestUnknownCoverageIsCheckingNotRetryable(t *testing.T) {
	t.Attr("spec", "CH-22.5")
	v := judge(t, healthy(state(health.Idle), gap(health.CoverageUnknown, health.DispositionChecking), noSchedule))
	wantPill(t, v, Grey, "Checking")
	wantActions(t, v)
	if v.Streams[0].Disposition != health.DispositionChecking {
		t.Errorf("stream is %s", v.Streams[0].Disposition)
	}
	wantNone(t, v.ForwardStatement, "next run", "expected", "fill", "up to date")
}

func TestOnlyRequiredStreamsVote(t *testing.T) {
	for _, p := range []health.Priority{health.OptionalStream, health.AcceptedAbsence} {
		in := healthy()
		in.Streams[1].Priority, in.Streams[1].Coverage = p, health.Unsupported
		v := judge(t, in)
		wantPill(t, v, Green, "Healthy")
		wantActions(t, v)
		row := v.Streams[1]
		if row.Coverage != health.Unsupported || row.Disposition != health.DispositionTerminal || row.ActionRef != nil {
			t.Errorf("%s: row %+v", p, row)
		}
	}
	in := healthy()
	in.Streams[1].Priority, in.Streams[1].Coverage = "no_such_priority", health.Unsupported
	wantPill(t, judge(t, in), Red, "Can't collect")
}

// TestValuesThatAreNotInTheVocabulary holds every axis to the cautious reading.
func TestValuesThatAreNotInTheVocabulary(t *testing.T) {
	cases := map[string]func(*Input){
		"state":     state("vigorous"),
		"freshness": func(in *Input) { in.Snapshot.Axes.Freshness = "crisp" },
		"attention": func(in *Input) { in.Snapshot.Axes.Attention = "dim" },
		"outbox":    func(in *Input) { in.Snapshot.Axes.Outbox = "wobbling" },
		"coverage":  func(in *Input) { in.Streams = nil; in.Snapshot.Axes.Coverage = "most" },
		"disposition": func(in *Input) {
			in.Snapshot.Disposition = "hopeful"
		},
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			v := judge(t, healthy(change))
			wantPill(t, v, Grey, "Checking")
			wantActions(t, v)
			wantNone(t, v.ForwardStatement, "up to date", "normally")
		})
	}
	t.Run("nothing at all", func(t *testing.T) { wantPill(t, judge(t, Input{}), Grey, "Checking") })
}
