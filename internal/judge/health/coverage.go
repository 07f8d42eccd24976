package health

import (
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// coverageReading is the coverage axis with the facts that it follows from.
type coverageReading struct {
	axis Coverage
	// contradiction is set if a required stream is declared as not collected. Such a connection is never green.
	contradiction bool
	streams       []string // the streams that decide the axis
	diagnosed     bool     // the axis comes from the devices' own diagnostics
}

// coverageOrder ranks coverage from worst to best: data that never arrives comes before data that a later run fills.
// A connection has the worst coverage of its required streams.
var coverageOrder = []Coverage{
	TerminalGap, Unsupported, Unavailable, RetryableGap, Gapped, Partial, CoverageUnknown, Deferred, InventoryOnly,
	Complete,
}

func worseCoverage(a, b Coverage) bool {
	return slices.Index(coverageOrder, a) < slices.Index(coverageOrder, b)
}

// readCoverage derives the axis from runs and gaps. Only if they do not decide it, it uses the devices' coverage
// diagnostics.
func readCoverage(e *evidence.Evidence) coverageReading {
	if r, found := contradiction(e); found {
		return r
	}
	undeclared := undeclaredGaps(e)
	r := coverageReading{axis: runCoverage(e, undeclared), streams: undeclared}
	for i := range e.Streams {
		s := &e.Streams[i]
		if !s.Required {
			continue
		}
		c := streamCoverage(e, s)
		if c == CoverageUnknown && e.LastRun == nil {
			continue // nothing ran: devices may still have an answer
		}
		switch {
		case worseCoverage(c, r.axis):
			r.axis, r.streams = c, append(r.streams[:0], s.Name)
		case c == r.axis && c != Complete:
			r.streams = append(r.streams, s.Name)
		}
	}
	if r.axis == CoverageUnknown && (e.LastRun == nil || e.LastRun.Trigger == evidence.TriggerDevice) {
		return diagnosedCoverage(e, r)
	}
	return r
}

// contradiction finds required streams with a policy that excludes them from collection.
func contradiction(e *evidence.Evidence) (r coverageReading, found bool) {
	for i := range e.Streams {
		s := &e.Streams[i]
		if c := acceptedLabel(s.Policy); s.Required && c != "" {
			if !found || worseCoverage(c, r.axis) {
				r.axis = c
			}
			r.streams, found = append(r.streams, s.Name), true
		}
	}
	r.contradiction = found
	return r, found
}

// acceptedLabel returns the coverage of a stream that is declared as not collected, or "".
func acceptedLabel(p manifest.CoveragePolicy) Coverage {
	if p == "" || p == manifest.PolicyCollect {
		return ""
	}
	return Coverage(p)
}

// runCoverage returns the coverage of the connection as a whole according to the newest run. Gaps of undeclared
// streams count here.
func runCoverage(e *evidence.Evidence, undeclared []string) Coverage {
	switch {
	case len(undeclared) > 0:
		return RetryableGap
	case e.LastRun == nil:
		return CoverageUnknown
	case e.LastRun.Status != evidence.RunSucceeded:
		return Partial
	default:
		return unlessUnread(e, Complete)
	}
}

// unlessUnread returns CoverageUnknown instead of a better coverage if gaps could not be read.
func unlessUnread(e *evidence.Evidence, c Coverage) Coverage {
	if e.Gaps == nil && worseCoverage(CoverageUnknown, c) {
		return CoverageUnknown
	}
	return c
}

// undeclaredGaps returns the streams that have gaps but are not in the manifest.
func undeclaredGaps(e *evidence.Evidence) (names []string) {
	if e.Gaps == nil {
		return nil
	}
	for i := range e.Gaps.Groups {
		g := &e.Gaps.Groups[i]
		declared := slices.ContainsFunc(e.Streams, func(s evidence.Stream) bool { return s.Name == g.Stream })
		if g.Count > 0 && !declared && !slices.Contains(names, g.Stream) {
			names = append(names, g.Stream)
		}
	}
	return names
}

// streamCoverage judges one stream in the order of the specification: declaration, terminal loss, retryable gaps,
// newest measurement. A waiting gap outranks a skip of the same stream, unless the skip states how it is fixed.
func streamCoverage(e *evidence.Evidence, s *evidence.Stream) Coverage {
	if c := acceptedLabel(s.Policy); c != "" {
		return c
	}
	waiting := e.Gaps.Outstanding(s.Name)
	var skip Coverage
	if s.Fact != nil && s.Fact.Skip != nil && !(waiting && undecided(s.Fact.Skip.Action)) {
		skip = skipCoverage(s.Fact.Skip)
	}
	switch {
	case skip == TerminalGap && recordsRejected(e, s):
		return RetryableGap
	case skip == TerminalGap:
		return TerminalGap
	case waiting || skip == RetryableGap:
		return RetryableGap
	case s.Fact == nil:
		return CoverageUnknown
	case skip != "" && skip != Complete:
		return unlessUnread(e, skip)
	case stoppedShort(e, s.Fact), s.Fact.TotalShort():
		return Partial
	case (s.Fact.Considered == nil) != (s.Fact.Covered == nil):
		return CoverageUnknown // half a measurement proves neither
	case s.Unreported() && skip == "":
		return CoverageUnknown // nothing is stored, and no run reported that the source is empty
	default:
		return unlessUnread(e, Complete)
	}
}

// stoppedShort reports whether the run left part of the stream for a later one.
func stoppedShort(e *evidence.Evidence, f *evidence.Fact) bool {
	return f.Checkpoint == evidence.CheckpointWithheld || f.Short() || !decidesStream(e, f)
}

// shortTotalOnly reports whether only the total that the source reports makes a stream partial.
func shortTotalOnly(e *evidence.Evidence, f *evidence.Fact) bool {
	return f != nil && f.TotalShort() && !stoppedShort(e, f)
}

// decidesStream reports whether the run's result for the stream counts, whatever happened to other streams. That is
// so if the run succeeded or covered all considered items. It is also so if the cursor is durable and the connector
// certifies that only other streams failed.
func decidesStream(e *evidence.Evidence, f *evidence.Fact) bool {
	run := e.LastRun
	confined := run != nil && run.ID == f.RunID && run.Failure != nil &&
		run.Failure.Code == protocol.StreamCollectionFailed
	return f.RunStatus == evidence.RunSucceeded || f.FullyCovered() || confined &&
		f.Checkpoint == evidence.CheckpointCommitted
}

// recordsRejected reports whether single records of the stream were rejected and the rest was stored. Each has a gap
// under its key with the reason of the skip.
func recordsRejected(e *evidence.Evidence, s *evidence.Stream) bool {
	skip := s.Fact.Skip
	return skip.Action == protocol.RetryOnConnectorUpgrade && e.Gaps != nil &&
		slices.ContainsFunc(e.Gaps.Groups, func(g evidence.GapGroup) bool {
			return g.Stream == s.Name && g.Count > 0 && string(g.Reason) == skip.Reason
		})
}

// absentAtSource reports whether the run found that the source has nothing for the stream.
func absentAtSource(s *evidence.Stream) bool {
	return s.Fact != nil && s.Fact.Skip != nil && undecided(s.Fact.Skip.Action) && skipCoverage(s.Fact.Skip) == Complete
}

// notReached reports whether the run failed before it reported on the stream.
func notReached(s *evidence.Stream) bool {
	f := s.Fact
	if f != nil && f.Skip != nil {
		return f.Skip.Reason == string(protocol.ReasonNotReached)
	}
	return f != nil && f.RunStatus != evidence.RunSucceeded && f.Collected == 0 && f.Considered == nil &&
		f.Covered == nil &&
		f.Checkpoint != evidence.CheckpointCommitted && f.Checkpoint != evidence.CheckpointWithheld
}

// undecided reports whether a skip leaves open how it is fixed.
func undecided(a protocol.RecoveryAction) bool {
	return a == "" || a == protocol.UnknownRecovery || a == protocol.RetryByRuntime
}

// skipFamilies classify a declared skip. The first matching family wins, and a skip without a family is final. An
// underscore at either end matches the edge of a word, so that "separate" does not match "_rate_".
var skipFamilies = []struct {
	Words    []string
	Coverage Coverage
}{
	{[]string{"_rate_", "ratelimit", "429", "retry", "pressure", "temporar", "timeout", "timed_out", "collection_failed"},
		RetryableGap},
	{[]string{"out_of_scope", "disabled", "deferred", "paused", "not_available_in_mode"}, Deferred},
	{[]string{"unavailable", "blocked", "locked", "upstream"}, Unavailable},
	{[]string{"unsupported", "capability"}, Unsupported},
	{[]string{"_not_found_"}, Complete}, // the source has no such part
	{[]string{"_not_reached_"}, Partial},
}

var wordEdges = strings.NewReplacer(" ", "_", "-", "_", ".", "_", ":", "_", "/", "_")

func skipCoverage(s *evidence.Skip) Coverage {
	switch s.Action {
	case protocol.RetryByRuntime:
		return RetryableGap
	case protocol.RefreshCredentials, protocol.ManualActionRequired:
		return Partial // the owner can fix it, so it is not final
	}
	reason := "_" + wordEdges.Replace(strings.ToLower(s.Reason)) + "_"
	for _, f := range skipFamilies {
		for _, word := range f.Words {
			if strings.Contains(reason, word) {
				return f.Coverage
			}
		}
	}
	return TerminalGap
}

// diagnosedCoverage reads the devices' report about their stores. Without a report the axis stays: an empty outbox
// proves nothing. It also stays if the report is good but gaps could not be read.
func diagnosedCoverage(e *evidence.Evidence, r coverageReading) coverageReading {
	if e.Device == nil || len(e.Device.Stores) == 0 {
		return r
	}
	out := coverageReading{axis: Complete, diagnosed: true}
	for _, s := range e.Device.Stores {
		if !s.Accounted() {
			out.axis, out.streams = Gapped, append(out.streams, s.Store)
		}
	}
	if out.axis != unlessUnread(e, out.axis) {
		return r
	}
	return out
}
