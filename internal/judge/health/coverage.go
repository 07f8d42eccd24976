package health

import (
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// coverageReading is the coverage axis and what it rests on.
type coverageReading struct {
	axis Coverage
	// contradiction says that a required stream is declared as one that is not
	// collected: such a connection is never green.
	contradiction bool
	streams       []string // those that the axis is about
	diagnosed     bool     // the axis comes from the devices' own diagnostics
}

// coverageOrder ranks coverage from the worst, as what becomes of it ranks: what
// never arrives before what a later run fills. The axis of a connection is the
// first of these that one of its required streams has.
var coverageOrder = []Coverage{
	TerminalGap, Unsupported, Unavailable, RetryableGap, Gapped, Partial, CoverageUnknown, Deferred, InventoryOnly, Complete,
}

func worse(a, b Coverage) bool {
	return slices.Index(coverageOrder, a) < slices.Index(coverageOrder, b)
}

// readCoverage derives the axis from runs and gaps, and only where those say
// nothing from the coverage diagnostics of the devices.
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
		case worse(c, r.axis):
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

// contradiction finds required streams whose policy says that they are not collected.
func contradiction(e *evidence.Evidence) (r coverageReading, found bool) {
	for i := range e.Streams {
		s := &e.Streams[i]
		if c := acceptedLabel(s.Policy); s.Required && c != "" {
			if !found || worse(c, r.axis) {
				r.axis = c
			}
			r.streams, found = append(r.streams, s.Name), true
		}
	}
	r.contradiction = found
	return r, found
}

// acceptedLabel is the coverage of a stream that is declared as not collected.
func acceptedLabel(p manifest.CoveragePolicy) Coverage {
	if p == "" || p == manifest.PolicyCollect {
		return ""
	}
	return Coverage(p)
}

// runCoverage is what the newest run says of the connection as a whole. A gap
// of a stream that the manifest does not name counts here.
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

// unlessUnread keeps a good answer from being given while gaps may be there
// that could not be read.
func unlessUnread(e *evidence.Evidence, c Coverage) Coverage {
	if e.Gaps == nil && worse(CoverageUnknown, c) {
		return CoverageUnknown
	}
	return c
}

// undeclaredGaps names the streams that have gaps and that the manifest does not name.
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

// streamCoverage judges one stream, in the order of the specification: what it
// is declared to be, what can never arrive, what a later run fills, what the
// newest measurement says. A gap that waits for a later run outranks a skip of
// the same stream that does not say otherwise.
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
	case skip == TerminalGap && rejectedAlone(e, s):
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
	case s.Silent() && skip == "":
		return CoverageUnknown // nothing is there, and nobody said that there is nothing
	default:
		return unlessUnread(e, Complete)
	}
}

// stoppedShort reports whether the run left part of the stream for a later one.
func stoppedShort(e *evidence.Evidence, f *evidence.Fact) bool {
	return f.Checkpoint == evidence.CheckpointWithheld || f.Short() || !speaksForItself(e, f)
}

// totalAlone reports whether only the total that the source reports makes a stream partial.
func totalAlone(e *evidence.Evidence, f *evidence.Fact) bool {
	return f != nil && f.TotalShort() && !stoppedShort(e, f)
}

// speaksForItself reports whether what the run says of the stream stands, whatever
// befell others: the run succeeded, or all of the stream was counted and covered, or
// the connector certifies that its failure is that of other streams, and this one's
// cursor is durable.
func speaksForItself(e *evidence.Evidence, f *evidence.Fact) bool {
	run := e.LastRun
	confined := run != nil && run.ID == f.RunID && run.Failure != nil && run.Failure.Code == protocol.StreamCollectionFailed
	return f.RunStatus == evidence.RunSucceeded || f.Whole() || confined && f.Checkpoint == evidence.CheckpointCommitted
}

// rejectedAlone reports whether single records of the stream were rejected and the rest was stored:
// each waits under its key, by the reason of the skip.
func rejectedAlone(e *evidence.Evidence, s *evidence.Stream) bool {
	skip := s.Fact.Skip
	return skip.Action == protocol.RetryOnConnectorUpgrade && e.Gaps != nil &&
		slices.ContainsFunc(e.Gaps.Groups, func(g evidence.GapGroup) bool {
			return g.Stream == s.Name && g.Count > 0 && string(g.Reason) == skip.Reason
		})
}

// absentAtSource reports whether the run found that the source holds nothing of the stream.
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

// skipFamilies read a declared skip. The first family that matches wins, and a
// skip of no family is final. An underscore at either end of a word stands for
// the edge of a word, so that "separate" is no rate.
var skipFamilies = []struct {
	Words    []string
	Coverage Coverage
}{
	{[]string{"_rate_", "ratelimit", "429", "retry", "pressure", "temporar", "timeout", "timed_out", "collection_failed"}, RetryableGap},
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

// diagnosedCoverage reads the devices' own account of their stores. An empty
// outbox proves nothing: without an account the axis stays as it was, and so it
// does when the account is good and gaps may be there that could not be read.
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
