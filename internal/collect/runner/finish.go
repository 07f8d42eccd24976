package runner

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/protocol"
)

// refused is the outcome of a run that never started a process.
func (s *session) refused(f *Failure) Outcome {
	o := Outcome{Status: statusOf(f), Failure: f, ExitCode: -1}
	o.Checkpoint = Checkpoint{Mode: checkpointMode, CommitStatus: CommitNone, StreamsStaged: []string{}, StreamsCommitted: []string{}}
	o.KnownGaps = s.knownGaps(nil, f)
	o.Events = []slice.Event{s.terminal(o)}
	return o
}

// finish judges the run, commits what may be committed, and sums it up.
func (s *session) finish(ctx context.Context, exit exitStatus) Outcome {
	f := s.failed()
	if f == nil {
		f = s.judge(exit)
	}
	if f != nil {
		s.dropTail(nil)
	}
	if lost := s.flush(); lost != nil {
		f = lost
	}
	var short []KnownGap
	if f == nil || s.certified(f) {
		var err error
		if short, err = s.settleCoverage(ctx); err == nil {
			err = s.commitStaged(f != nil)
		}
		if err != nil {
			f = s.asFailure(err)
			short = append(short, KnownGap{Kind: protocol.KnownCheckpointCommit, Reason: "checkpoint_commit_failed",
				Severity: protocol.SeverityActionable, RecoveryHint: protocol.RecoveryHint{Action: protocol.RetryByRuntime}})
		}
	}
	s.committer.stop()
	return s.outcome(f, exit, short)
}

// judge holds the connector's word against what the runner saw.
func (s *session) judge(exit exitStatus) *Failure {
	switch {
	case s.done == nil && s.stdinPhase != "":
		return &Failure{Reason: ReasonStdinClosed, Origin: OriginTransport, Phase: s.stdinPhase,
			Message: "the connector closed its input before it was done (" + exit.String() + ")"}
	case s.done == nil && s.lack() != nil:
		return s.lack()
	case s.done == nil:
		return &Failure{Reason: ReasonExitWithoutDone, Origin: OriginConnector,
			Message: "the connector ended without DONE (" + exit.String() + ")"}
	case (s.done.Status == protocol.DoneSucceeded) != (exit.code == 0):
		return s.violated(&protocol.Violation{Subtype: protocol.ExitCodeMismatch, MessageType: protocol.TypeDone,
			Expected: []string{"exit code 0 exactly when DONE says succeeded"}, Received: string(s.done.Status) + " and " + exit.String()})
	case s.done.Status == protocol.DoneFailed:
		return &Failure{Reason: ReasonConnectorFailed, Origin: OriginConnector, Message: s.doneMessage()}
	case s.done.Status == protocol.DoneCancelled:
		return &Failure{Reason: ReasonConnectorCancelled, Origin: OriginConnector, Message: s.doneMessage()}
	}
	for _, id := range slices.Sorted(maps.Keys(s.served)) {
		if g := s.served[id]; g.attempted && !g.settled {
			return s.violated(&protocol.Violation{Subtype: protocol.AttemptWithoutResult, MessageType: protocol.TypeDone, Stream: g.entry.Stream,
				Expected: []string{"an outcome for every gap that was attempted"}, Received: "none for " + id})
		}
	}
	return nil
}

func (s *session) doneMessage() string {
	if e := s.done.Error; e != nil && e.Message != "" {
		return s.line(e.Message)
	}
	return "the connector gave no reason"
}

// confined reports whether DONE says that a failure is confined to named streams.
func (s *session) confined() bool {
	e := s.done.Error
	return s.done.Status == protocol.DoneFailed && e != nil && e.Code == protocol.StreamCollectionFailed &&
		slices.ContainsFunc(s.order, func(st *stream) bool { return st.certified })
}

// certified reports whether that is the whole of what went wrong: the owner's
// cancellation is not a connector's failure.
func (s *session) certified(f *Failure) bool {
	return f.Reason == ReasonConnectorFailed && s.confined()
}

// blocked names the streams whose failure is certified, and their parents.
func (s *session) blocked() map[string]bool {
	out := map[string]bool{}
	for _, st := range s.order {
		if !st.certified {
			continue
		}
		out[st.name] = true
		for _, p := range append([]string{st.Decl.StateStream}, st.Decl.ParentStreams...) {
			out[p] = true
		}
	}
	return out
}

// commitStaged moves the cursors that waited for the run's end, all in one
// slice. After a certified failure the failed streams and their parents wait on.
func (s *session) commitStaged(afterFailure bool) error {
	var blocked map[string]bool
	if afterFailure {
		blocked = s.blocked()
	}
	for _, st := range s.order {
		if st.withheld || blocked[st.name] {
			continue
		}
		for _, mode := range protocol.CursorModes {
			if c, ok := st.staged[mode]; ok {
				s.cur.move(c)
				st.moved = true
				delete(st.staged, mode)
			}
		}
	}
	s.cur.close()
	if f := s.flush(); f != nil {
		return f
	}
	return nil
}

func (s *session) outcome(f *Failure, exit exitStatus, short []KnownGap) Outcome {
	o := Outcome{
		Status: statusOf(f), Failure: f, RecordsEmitted: s.records, Rate: s.rate, RateHistory: s.rates.History(),
		StderrTail: s.lastWords(s.child.StderrTail()), ExitCode: exit.code,
	}
	if s.done != nil {
		o.Reported = &s.done.RecordsEmitted
		o.DoneError = s.redactedError()
	}
	if f != nil && f.Reason == ReasonOwnerCancelled && exit.killed {
		f.Reason = ReasonOwnerCancelForced
	}
	o.Checkpoint = s.checkpoint()
	o.KnownGaps = s.knownGaps(short, f)
	o.Facts = s.facts()
	s.mu.Lock()
	o.Events = append(s.events, s.terminal(o))
	s.mu.Unlock()
	return o
}

func statusOf(f *Failure) Status {
	switch {
	case f == nil:
		return Succeeded
	case slices.Contains(cancelling, f.Reason):
		return Cancelled
	default:
		return Failed
	}
}

// cancelling are the reasons of a run that somebody stopped, and that did not fail.
var cancelling = []Reason{ReasonOwnerCancelled, ReasonConnectorCancelled, ReasonShutdown, ReasonGrantExpired, ReasonGrantRevoked}

func (s *session) redactedError() *protocol.DoneError {
	if s.done.Error == nil {
		return nil
	}
	e := *s.done.Error
	e.Message = s.line(e.Message)
	return &e
}

// terminal is the run's last timeline entry.
func (s *session) terminal(o Outcome) slice.Event {
	kind := map[Status]string{Succeeded: "run.completed", Failed: "run.failed", Cancelled: "run.cancelled"}[o.Status]
	data := map[string]any{
		"records_emitted": o.RecordsEmitted, "reported_records_emitted": o.Reported,
		"checkpoint": o.Checkpoint, "known_gaps": o.KnownGaps, "recovery_only": s.spec.RecoveryOnly,
	}
	if o.Facts != nil {
		data["collection_facts"] = o.Facts
	}
	if o.Rate != nil {
		data["collection_rate"], data["rate_history"] = o.Rate, o.RateHistory
	}
	if f := o.Failure; f != nil {
		data["failure_reason"], data["failure_origin"], data["failure_message"] = f.Reason, f.Origin, f.Message
		if f.Violation != nil {
			data["violation"] = f.Violation
		}
		if f.Phase != "" {
			data["stdin_closed_at_phase"] = f.Phase
		}
		if o.StderrTail != "" {
			data["connector_diagnostics"] = map[string]any{"stderr_tail": o.StderrTail}
		}
	}
	if o.DoneError != nil {
		data["connector_error"] = o.DoneError
	}
	raw, err := json.Marshal(data, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		raw = jsontext.Value(`{}`)
	}
	return slice.Event{Type: kind, At: time.Now(), Data: raw}
}
