package runner

import (
	"context"
	"slices"

	"github.com/pdpp-go/pdpp/internal/collect/childprocess"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/protocol"
)

// notStarted returns the outcome of a run that never started a process.
func (s *session) notStarted(f *Failure) Outcome {
	o := Outcome{Status: statusOf(f), Failure: f, ExitCode: -1}
	o.Checkpoint = Checkpoint{Mode: checkpointMode, CommitStatus: CommitNone, StreamsStaged: []string{},
		StreamsCommitted: []string{}}
	o.KnownGaps = s.knownGaps(nil, f)
	o.Events = []slice.Event{s.terminalEvent(o)}
	return o
}

// finish decides how the run ended, commits what may be committed, and returns the outcome.
func (s *session) finish(ctx context.Context, exit childprocess.ExitStatus) Outcome {
	f := s.conv.firstFailure()
	if f == nil {
		f = s.connectorFailure(exit)
	}
	if f != nil {
		s.dropOpenSlices(nil)
	}
	if lost := s.commits.flush(); lost != nil {
		f = lost
	}
	var incomplete []KnownGap
	if f == nil || f.Reason == ReasonConnectorFailed && s.failureConfined() {
		var failed *Failure
		var err error
		if incomplete, err = s.coverage.checkLanes(ctx); err != nil {
			failed = s.secrets.storageFailure(err)
		} else {
			failed = s.commitStaged(f != nil)
		}
		if failed != nil {
			f = failed
			incomplete = append(incomplete, KnownGap{Kind: protocol.KnownCheckpointCommit,
				Reason: "checkpoint_commit_failed", Severity: protocol.SeverityActionable,
				RecoveryHint: protocol.RecoveryHint{Action: protocol.RetryByRuntime}})
		}
	}
	s.commits.committer.stop()
	return s.outcome(f, exit, incomplete)
}

// connectorFailure compares DONE with the exit status and with the gaps that were attempted. It returns nil for a
// successful run.
func (s *session) connectorFailure(exit childprocess.ExitStatus) *Failure {
	if s.done == nil {
		if s.conv.stdinPhase != "" {
			return &Failure{Reason: ReasonStdinClosed, Origin: OriginTransport, Phase: s.conv.stdinPhase,
				Message: "the connector closed its input before it was done (" + exit.String() + ")"}
		}
		if f := s.conv.missingModule(); f != nil {
			return f
		}
		return &Failure{Reason: ReasonExitWithoutDone, Origin: OriginConnector,
			Message: "the connector ended without DONE (" + exit.String() + ")"}
	}
	switch {
	case (s.done.Status == protocol.DoneSucceeded) != (exit.Code == 0):
		return s.secrets.violationFailure(&protocol.Violation{Subtype: protocol.ExitCodeMismatch,
			MessageType: protocol.TypeDone,
			Expected:    []string{"exit code 0 exactly when DONE says succeeded"},
			Received:    string(s.done.Status) + " and " + exit.String()})
	case s.done.Status == protocol.DoneFailed:
		return &Failure{Reason: ReasonConnectorFailed, Origin: OriginConnector, Message: s.doneMessage()}
	case s.done.Status == protocol.DoneCancelled:
		return &Failure{Reason: ReasonConnectorCancelled, Origin: OriginConnector, Message: s.doneMessage()}
	}
	if v := s.gaps.unreportedAttempt(); v != nil {
		return s.secrets.violationFailure(v)
	}
	return nil
}

func (s *session) doneMessage() string {
	if e := s.done.Error; e != nil && e.Message != "" {
		return s.secrets.line(e.Message)
	}
	return "the connector gave no reason"
}

// failureConfined reports whether DONE confines the failure to streams that SKIP_RESULT declared as failed.
func (s *session) failureConfined() bool {
	e := s.done.Error
	return s.done.Status == protocol.DoneFailed && e != nil && e.Code == protocol.StreamCollectionFailed &&
		slices.ContainsFunc(s.streams.order, func(st *stream) bool { return st.certified })
}

// commitStaged commits the cursors that were staged for the end of the run, in one slice. After a confined failure it
// leaves out those of the failed streams and their parents.
func (s *session) commitStaged(afterFailure bool) *Failure {
	var blocked map[string]bool
	if afterFailure {
		blocked = s.streams.certifiedFailures()
	}
	for _, st := range s.streams.order {
		if st.withheld || blocked[st.name] {
			continue
		}
		for _, mode := range protocol.CursorModes {
			if c, ok := st.staged[mode]; ok {
				s.commits.current.move(c)
				st.moved = true
				delete(st.staged, mode)
			}
		}
	}
	s.commits.current.close()
	return s.commits.flush()
}

func (s *session) outcome(f *Failure, exit childprocess.ExitStatus, incomplete []KnownGap) Outcome {
	o := Outcome{
		Status: statusOf(f), Failure: f, RecordsEmitted: s.counters.records,
		Rate: s.progress.rate, RateHistory: s.progress.rates.History(),
		StderrTail: s.conv.stderrTail(), ExitCode: exit.Code,
	}
	if s.done != nil {
		o.Reported = &s.done.RecordsEmitted
		o.DoneError = s.redactedError()
	}
	if f != nil && f.Reason == ReasonOwnerCancelled && exit.Killed {
		f.Reason = ReasonOwnerCancelForced
	}
	o.Checkpoint = s.checkpoint()
	o.KnownGaps = s.knownGaps(incomplete, f)
	o.Facts = s.facts()
	o.Events = append(s.timeline.takeAll(), s.terminalEvent(o))
	return o
}

func statusOf(f *Failure) Status {
	switch {
	case f == nil:
		return Succeeded
	case slices.Contains(cancellationReasons, f.Reason):
		return Cancelled
	default:
		return Failed
	}
}

// cancellationReasons are the reasons of a run that was stopped and did not fail.
var cancellationReasons = []Reason{ReasonOwnerCancelled, ReasonConnectorCancelled, ReasonShutdown, ReasonGrantExpired,
	ReasonGrantRevoked}

func (s *session) redactedError() *protocol.DoneError {
	if s.done.Error == nil {
		return nil
	}
	e := *s.done.Error
	e.Message = s.secrets.line(e.Message)
	return &e
}

// terminalEvent returns the run's last timeline entry.
func (s *session) terminalEvent(o Outcome) slice.Event {
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
	return newEvent(kind, "", data)
}
