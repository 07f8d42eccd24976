package runner

import (
	"context"
	"errors"
	"maps"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/protocol"
)

// session is the state of one run. The reading goroutine owns every part. A part that other goroutines use guards
// its shared fields.
type session struct {
	spec    Spec
	sink    Sink
	opts    Options
	secrets secrets
	start   protocol.Start
	done    *protocol.Done // nil until the connector sends it

	streams   streamSet
	conv      conversation
	commits   commitQueue
	timeline  timeline
	counters  runCounters
	gaps      gapRecovery
	coverage  laneCoverage
	summary   gapSummary
	questions ownerQuestions
	exchange  credentialExchange
	quotas    quotaMembers
	blobs     blobIntake
	progress  progressLog
}

func newSession(spec Spec, sink Sink, gaps GapSource, asker Asker, opts Options) *session {
	s := &session{spec: spec, sink: sink, opts: opts}
	s.conv = newConversation(&s.secrets, opts)
	s.gaps = newGapRecovery(gaps)
	s.coverage = newLaneCoverage(sink, &s.streams)
	s.questions.asker, s.questions.assistance = asker, assistanceTimers{}
	s.blobs = blobIntake{store: spec.Blobs, limits: spec.BlobLimits.withDefaults()}
	s.secrets.learn(spec.Command.Secrets...)
	return s
}

// prepare does everything that can fail before a process is started: it resolves the scope, checks the bindings,
// leases the first gaps and builds START.
func (s *session) prepare(ctx context.Context) *Failure {
	if ctx.Err() != nil {
		return s.secrets.cancellation(ctx)
	}
	order, err := resolveScope(s.spec)
	if err == nil && s.spec.Mode != protocol.FullRefresh && s.spec.Mode != protocol.Incremental {
		err = errors.New("collection mode " + quoted(string(s.spec.Mode)) + " is neither full_refresh nor incremental")
	}
	if err != nil {
		return &Failure{Reason: ReasonInvalidScope, Origin: OriginRuntime, Message: err.Error()}
	}
	offered := map[string]jsontext.Value{}
	maps.Copy(offered, s.spec.Bindings)
	if s.questions.asker != nil {
		offered["interactive"] = jsontext.Value("{}")
	} else {
		delete(offered, "interactive")
	}
	if name := missingBinding(s.spec.Manifest, offered); name != "" {
		return &Failure{Reason: ReasonBindingMissing, Origin: OriginRuntime,
			Message: "Runtime cannot satisfy required binding: " + name}
	}
	s.streams = newStreamSet(order)
	s.start = protocol.Start{
		RunID: s.spec.RunID, CollectionMode: s.spec.Mode, Bindings: offered,
		State: s.spec.State, CatchUpState: s.spec.CatchUpState, RecoveryOnly: s.spec.RecoveryOnly,
		Allowances: s.spec.SharedQuotas != nil,
		Walks:      s.spec.StoredKeys != nil && !s.spec.RecoveryOnly,
	}
	for _, st := range order {
		s.start.Scope.Streams = append(s.start.Scope.Streams, st.Scope)
	}
	s.start.DetailGaps, err = s.gaps.nextPage(ctx, s.streams.names(), s.opts.GapPageBytes)
	switch {
	case err != nil && ctx.Err() != nil:
		return s.secrets.cancellation(ctx)
	case err != nil:
		return s.secrets.storageFailure(err)
	}
	return nil
}

// converse exchanges messages with the child until the child has exited, and returns the outcome of the run.
func (s *session) converse(ctx context.Context, c childProcess) Outcome {
	defer c.Discard()
	durable := context.WithoutCancel(ctx) // finished slices are stored even while the run is being cancelled
	end := s.conv.begin(durable, c)
	defer end()
	s.blobs.folder.Dir = c.Dir()
	defer s.blobs.folder.Close()
	s.commits = newCommitQueue(durable, newCommitter(s.sink, s.commitFailed, s.onCommitted), &s.streams, &s.timeline,
		s.opts)
	s.conv.background.Go(func() { s.conv.watch(ctx) })

	s.conv.send("start", &s.start)
	s.readMessages(durable)
	exit := s.conv.awaitExit()
	end()
	s.questions.assistance.stop()
	s.conv.background.Wait()
	s.quotas.leaveAll(durable)
	s.conv.finishSending()
	if ctx.Err() != nil {
		s.conv.abort(s.secrets.cancellation(ctx)) // a cancellation before the end wins over the connector's DONE
	}
	return s.finish(durable, exit)
}

// readMessages handles lines until the connector closes stdout or violates the protocol.
func (s *session) readMessages(ctx context.Context) {
	for {
		// While the connector is silent, finished slices become durable, and so do timeline entries about the
		// run as a whole, such as the reason of a wait.
		if s.conv.lines.Buffered() == 0 {
			s.commits.commitWhileIdle()
		}
		line, err := s.conv.lines.Next()
		if err != nil {
			if v, ok := protocol.AsViolation(err); ok {
				s.conv.abort(s.secrets.violationFailure(v))
			}
			return
		}
		s.conv.touch()
		if s.conv.waitingForOwner.Load() {
			s.conv.abort(s.secrets.violationFailure(&protocol.Violation{Subtype: protocol.OutputWhileAsking,
				Expected: []string{"silence until INTERACTION_RESPONSE"}}))
			return
		}
		m, err := s.conv.decoder.Decode(line)
		if err != nil && s.done == nil && s.conv.lineTruncated(err) {
			return // the connector died while it wrote: its exit status explains more than half a line
		}
		if err == nil && s.done != nil {
			err = &protocol.Violation{Subtype: protocol.MessageAfterDone, MessageType: m.Type(),
				Expected: []string{"nothing after DONE"}}
		}
		if err == nil {
			err = s.handle(ctx, m)
		}
		if err != nil {
			s.conv.abort(s.secrets.asFailure(err))
			return
		}
	}
}

// handle dispatches one valid message.
func (s *session) handle(ctx context.Context, m protocol.Message) error {
	switch m := m.(type) {
	case *protocol.Record:
		return s.onRecord(ctx, m)
	case *protocol.State:
		return s.onState(ctx, m)
	case *protocol.Progress:
		return s.onProgress(ctx, m)
	case *protocol.Interaction:
		return s.onInteraction(ctx, m)
	case *protocol.SkipResult:
		return s.onSkip(m)
	case *protocol.DetailGap:
		return s.onGap(m)
	case *protocol.DetailCoverage:
		return s.onCoverage(m)
	case *protocol.DetailGapsPageRequest:
		return s.onGapPageRequest(ctx, m)
	case *protocol.DetailGapAttempted:
		return s.onGapAttempted(m)
	case *protocol.DetailGapRecovered:
		return s.onGapRecovered(m)
	case *protocol.Assistance:
		return s.onAssistance(m)
	case *protocol.AssistanceStatus:
		return s.onAssistanceStatus(m)
	case *protocol.CredentialRequest:
		return s.onCredentialRequest(ctx, m)
	case *protocol.Allowance:
		return s.onAllowance(ctx, m)
	case *protocol.Walk:
		return s.onWalk(ctx, m)
	case *protocol.Done:
		return s.onDone(m)
	default:
		return &protocol.Violation{Subtype: protocol.WrongDirection, MessageType: m.Type()}
	}
}

// commitFailed aborts the run after a failed commit. It runs on the committer's goroutine.
func (s *session) commitFailed(err error) *Failure {
	f := s.secrets.storageFailure(err)
	s.conv.abort(f)
	return f
}

// streamNamed returns a stream in scope. A message about another stream is a violation.
func (s *session) streamNamed(m protocol.Message, name string) (*stream, error) {
	if st := s.streams.byName[name]; st != nil {
		return st, nil
	}
	return nil, s.streams.undeclared(protocol.UndeclaredStream, m.Type(), name)
}

// invalidField returns the violation of a message with a field that differs from what the runner expects.
func invalidField(m protocol.Message, stream, expected string) *protocol.Violation {
	return &protocol.Violation{Subtype: protocol.InvalidField, MessageType: m.Type(), Stream: stream,
		Expected: []string{expected}}
}
