package runner

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/pdpp-go/pdpp/protocol"
)

// interaction parks the run: finished slices are made durable, the question
// goes to the owner, and until it is answered the connector must be silent.
func (s *session) interaction(ctx context.Context, m *protocol.Interaction) error {
	if s.asker == nil {
		return &protocol.Violation{Subtype: protocol.NoInteractiveBinding, MessageType: m.Type(),
			Expected: []string{"no INTERACTION: the run has no interactive binding"}}
	}
	if m.Stream != "" && s.streams[m.Stream] == nil {
		return s.undeclared(protocol.UndeclaredStream, m.Type(), m.Stream)
	}
	m.Message = s.names(m.Message)
	s.note("run.interaction_required", m.Stream, map[string]any{"request_id": m.RequestID, "kind": m.Kind})
	s.give() // the timeline shows the question while it waits
	if f := s.committer.wait(); f != nil {
		return f
	}
	s.asking.Store(true)
	s.observe(Update{Asking: m})
	s.background.Go(func() { s.ask(ctx, *m) })
	return nil
}

// ask waits for the answer and hands it to the connector. The answer passes
// through memory only: it is not in an event, a log or an error.
func (s *session) ask(ctx context.Context, m protocol.Interaction) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if m.TimeoutSeconds != nil {
		ctx, cancel = context.WithTimeout(ctx, seconds(*m.TimeoutSeconds))
		defer cancel()
	}
	stop := context.AfterFunc(s.over, cancel)
	defer stop()
	answered := make(chan struct{})
	defer close(answered)
	s.background.Go(func() {
		select {
		case <-s.opts.Drain: // no slice will be finished while the owner is asked
			s.abort(drained())
		case <-answered:
		}
	})
	answer, err := s.asker.Ask(ctx, m)
	switch {
	case s.over.Err() != nil:
		return // the run has ended; nobody waits for the answer
	case err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		answer = protocol.InteractionResponse{Status: protocol.ResponseTimeout}
	case err != nil:
		s.abort(&Failure{Reason: ReasonRuntimeError, Origin: OriginRuntime, Message: "the question could not be put to the owner", Err: err})
		return
	}
	if answer.Status == "" {
		answer.Status = protocol.ResponseSuccess
	}
	if answer.Status != protocol.ResponseSuccess {
		answer.Data = nil
	}
	answer.RequestID = m.RequestID
	line, err := protocol.AppendLine(nil, &answer)
	if _, bad := protocol.NewDecoder(protocol.ToConnector).Decode(line[:max(len(line)-1, 0)]); err != nil || bad != nil {
		s.abort(&Failure{Reason: ReasonInvalidAnswer, Origin: OriginRuntime, Message: "the answer to the question was not in the agreed form"})
		return
	}
	s.learnAnswer(answer.Data)
	s.note("run.interaction_completed", m.Stream, map[string]any{"request_id": m.RequestID, "status": answer.Status})
	if answer.Status != protocol.ResponseSuccess {
		s.unanswered(m.Stream, answer.Status)
	}
	s.touch()
	s.asking.Store(false) // before the answer is sent: the connector may speak at once
	s.outgoing <- outgoing{"interaction_response", line}
}

func (s *session) unanswered(stream string, status protocol.ResponseStatus) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.asks) < maxKnownGaps {
		s.asks = append(s.asks, KnownGap{
			Kind: protocol.KnownInteraction, Reason: "interaction_" + string(status), Severity: protocol.SeverityActionable,
			Stream: stream, RecoveryHint: protocol.RecoveryHint{Action: protocol.ManualActionRequired},
		})
	}
}

// seconds is a number of seconds as a duration, however large it is.
func seconds(n float64) time.Duration {
	if n >= math.MaxInt64/float64(time.Second) {
		return math.MaxInt64
	}
	return time.Duration(n * float64(time.Second))
}

// maxAssistance bounds the requests of one run, each of which is remembered.
const maxAssistance = 1000

func (s *session) assistance(m *protocol.Assistance) error {
	if _, open := s.help[m.RequestID]; open || len(s.help) >= maxAssistance {
		return &protocol.Violation{Subtype: protocol.InvalidField, MessageType: m.Type(),
			Expected: []string{fmt.Sprintf("a new assistance_request_id, and at most %d of them", maxAssistance)}}
	}
	var timer *time.Timer // nil when the connector sets no limit
	if m.TimeoutSeconds != nil {
		timer = time.AfterFunc(seconds(*m.TimeoutSeconds), func() {
			s.abort(&Failure{Reason: ReasonAssistanceTimedOut, Origin: OriginRuntime, Message: "the help that the connector asked for did not come in time"})
		})
	}
	s.help[m.RequestID] = timer
	s.note("run.assistance_requested", "", map[string]any{
		"assistance_request_id": m.RequestID, "progress_posture": m.Posture, "owner_action": m.OwnerAction,
	})
	return nil
}

func (s *session) assistanceStatus(m *protocol.AssistanceStatus) error {
	timer, open := s.help[m.RequestID]
	if !open {
		return &protocol.Violation{Subtype: protocol.UnknownAssistance, MessageType: m.Type(), Expected: []string{"the id of an ASSISTANCE of this run"}}
	}
	if timer != nil {
		timer.Stop()
	}
	s.note("run.assistance_"+string(m.Status), "", map[string]any{"assistance_request_id": m.RequestID})
	return nil
}
