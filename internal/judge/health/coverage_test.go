package health

import (
	"fmt"
	"slices"
	"testing"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

func measuredFact() *evidence.Fact {
	return &evidence.Fact{RunStatus: evidence.RunSucceeded, Considered: num(4), Covered: num(4),
		Checkpoint: evidence.CheckpointCommitted}
}

func skipped(reason string) func(*evidence.Stream) {
	return func(s *evidence.Stream) { s.Fact.Skip = &evidence.Skip{Reason: reason} }
}

// streamOf sets up a stream with the coverage, if runs can cause that coverage.
var streamOf = map[Coverage]func(*evidence.Stream){
	TerminalGap: skipped("parser_broken"), RetryableGap: skipped("timeout"), Unsupported: skipped("unsupported"),
	Unavailable: skipped("upstream_locked"), Deferred: skipped("user_disabled"),
	Partial:         func(s *evidence.Stream) { s.Fact.Covered = num(3) },
	CoverageUnknown: func(s *evidence.Stream) { s.Fact = nil },
	Complete:        func(*evidence.Stream) {},
}

// covered is the evidence of a good run over required streams of these coverages.
func covered(of ...Coverage) *evidence.Evidence {
	e := &evidence.Evidence{LastRun: &evidence.Run{Status: evidence.RunSucceeded, EndedAt: noon}, Gaps: &evidence.Gaps{}}
	for i, c := range of {
		s := evidence.Stream{Name: fmt.Sprintf("%s_%d", c, i), Required: true, Fact: measuredFact()}
		streamOf[c](&s)
		e.Streams = append(e.Streams, s)
	}
	return e
}

func TestWorstRequiredStreamIsTheAxis(t *testing.T) {
	for i, worst := range coverageOrder {
		for _, other := range coverageOrder[i:] {
			if streamOf[worst] == nil || streamOf[other] == nil {
				continue
			}
			for _, order := range [][]Coverage{{worst, other}, {other, worst}} {
				if got := readCoverage(covered(order...)).axis; got != worst {
					t.Errorf("%v: %s", order, got)
				}
			}
			e := covered(Complete, worst)
			e.Streams[1].Required = false
			if got := readCoverage(e).axis; got != Complete {
				t.Errorf("an optional stream that is %s made the axis %s", worst, got)
			}
		}
	}
}

func TestCoveragePrecedence(t *testing.T) {
	waiting := func(stream string) *evidence.Gaps {
		return &evidence.Gaps{Groups: []evidence.GapGroup{{Stream: stream, Reason: protocol.ReasonRetryExhausted, Count: 1}}}
	}
	cases := []struct {
		name    string
		edit    func(*evidence.Evidence)
		want    Coverage
		streams []string
	}{
		{"complete", func(*evidence.Evidence) {}, Complete, nil},
		{"a gap", func(e *evidence.Evidence) { e.Gaps = waiting("a") }, RetryableGap, []string{"a"}},
		{"a gap of no items", func(e *evidence.Evidence) { e.Gaps = waiting("a"); e.Gaps.Groups[0].Count = 0 }, Complete,
			nil},
		{"a gap of an optional stream", func(e *evidence.Evidence) { e.Gaps = waiting("c") }, Complete, nil},
		{"a gap of a stream that is not declared", func(e *evidence.Evidence) { e.Gaps = waiting("z") }, RetryableGap,
			[]string{"z"}},
		{"gaps that could not be read", func(e *evidence.Evidence) { e.Gaps = nil }, CoverageUnknown, []string{"a", "b"}},
		{"a failed run", func(e *evidence.Evidence) { e.LastRun.Status = evidence.RunFailed }, Partial, nil},
		{"a cursor that was withheld",
			func(e *evidence.Evidence) { e.Streams[0].Fact.Checkpoint = evidence.CheckpointWithheld }, Partial, []string{"a"}},
		{"a run that counts nothing",
			func(e *evidence.Evidence) { e.Streams[0].Fact.Considered, e.Streams[0].Fact.Covered = nil, nil }, Complete, nil},
		{"half a measurement", func(e *evidence.Evidence) { e.Streams[0].Fact.Covered = nil }, CoverageUnknown,
			[]string{"a"}},
		{"a final skip beside a gap of its own", func(e *evidence.Evidence) {
			e.Gaps, e.Streams[0].Fact.Skip = waiting("a"), &evidence.Skip{Reason: "broken", Action: protocol.NotRetriable}
		}, TerminalGap, []string{"a"}},
		{"a skip that leaves its fixing open, beside a gap of its own", func(e *evidence.Evidence) {
			e.Gaps, e.Streams[0].Fact.Skip = waiting("a"), &evidence.Skip{Reason: "broken"}
		}, RetryableGap, []string{"a"}},
		{"that skip beside a gap of another stream", func(e *evidence.Evidence) {
			e.Gaps, e.Streams[0].Fact.Skip = waiting("b"), &evidence.Skip{Reason: "broken"}
		}, TerminalGap, []string{"a"}},
		{"a contradiction before all", func(e *evidence.Evidence) {
			e.Gaps, e.Streams[1].Policy = waiting("a"), manifest.PolicyDeferred
		}, Deferred, []string{"b"}},
		{"accepted where it is not required", func(e *evidence.Evidence) { e.Streams[2].Policy = manifest.PolicyUnsupported },
			Complete, nil},
		{"nothing ran", func(e *evidence.Evidence) {
			e.LastRun = nil
			for i := range e.Streams {
				e.Streams[i].Fact = nil
			}
		}, CoverageUnknown, nil},
	}
	for _, c := range cases {
		e := &evidence.Evidence{LastRun: &evidence.Run{Status: evidence.RunSucceeded, EndedAt: noon}, Gaps: &evidence.Gaps{}}
		for _, name := range []string{"a", "b", "c"} {
			e.Streams = append(e.Streams, evidence.Stream{Name: name, Required: name != "c", Fact: measuredFact()})
		}
		c.edit(e)
		got := readCoverage(e)
		if got.axis != c.want || !slices.Equal(got.streams, c.streams) {
			t.Errorf("%s: %s of %v, want %s of %v", c.name, got.axis, got.streams, c.want, c.streams)
		}
		if got.contradiction != (c.name == "a contradiction before all") {
			t.Errorf("%s: contradiction %v", c.name, got.contradiction)
		}
	}
}

func TestSkipFamilies(t *testing.T) {
	for reason, want := range map[string]Coverage{
		"rate_limited": RetryableGap, "provider rate": RetryableGap, "http-429": RetryableGap,
		"retry_exhausted":       RetryableGap,
		"temporary_unavailable": RetryableGap, "separate_export": TerminalGap, "insufficient_scope": TerminalGap,
		"out_of_scope": Deferred, "user_disabled": Deferred, "not_available_in_mode": Deferred,
		"Upstream locked": Unavailable, "missing_capability": Unsupported, "": TerminalGap, "auth_failure": TerminalGap,
	} {
		if got := skipCoverage(&evidence.Skip{Reason: reason}); got != want {
			t.Errorf("%q: %s, want %s", reason, got, want)
		}
	}
	if got := skipCoverage(&evidence.Skip{Reason: "unsupported", Action: protocol.RetryByRuntime}); got != RetryableGap {
		t.Errorf("a skip that the runtime retries is %s", got)
	}
}
