package runner

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/protocol"
)

// maxAssistance bounds the assistance requests of one run, because each is remembered.
const maxAssistance = 1000

// ownerQuestions holds what the connector asks of the owner.
type ownerQuestions struct {
	asker      Asker // nil: the run has no interactive binding
	assistance assistanceTimers

	mu         sync.Mutex
	unanswered []KnownGap
}

// assistanceTimers are the assistance requests of a run by id. The timer is nil for a request without a time limit.
type assistanceTimers map[string]*time.Timer

func (a assistanceTimers) stop() {
	for _, timer := range a {
		if timer != nil {
			timer.Stop()
		}
	}
}

// onInteraction commits finished slices and asks the owner. The connector must be silent until the answer.
func (s *session) onInteraction(ctx context.Context, m *protocol.Interaction) error {
	if s.questions.asker == nil {
		return &protocol.Violation{Subtype: protocol.NoInteractiveBinding, MessageType: m.Type(),
			Expected: []string{"no INTERACTION: the run has no interactive binding"}}
	}
	if m.Stream != "" {
		if _, err := s.streamNamed(m, m.Stream); err != nil {
			return err
		}
	}
	m.Message = s.secrets.redactKnown(m.Message)
	s.timeline.note("run.interaction_required", m.Stream, map[string]any{"request_id": m.RequestID, "kind": m.Kind})
	s.commits.commitBatch() // the timeline shows the question while the run waits
	if f := s.commits.committer.wait(); f != nil {
		return f
	}
	s.conv.waitingForOwner.Store(true)
	s.observe(Update{Asking: m})
	s.conv.background.Go(func() { s.askOwner(ctx, *m) })
	return nil
}

// askOwner waits for the answer and sends it to the connector. The answer exists in memory only: no event, log or
// error contains it.
func (s *session) askOwner(ctx context.Context, m protocol.Interaction) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if m.TimeoutSeconds != nil {
		ctx, cancel = context.WithTimeout(ctx, secondsDuration(*m.TimeoutSeconds))
		defer cancel()
	}
	stop := context.AfterFunc(s.conv.over, cancel)
	defer stop()
	answered := make(chan struct{})
	defer close(answered)
	s.conv.background.Go(func() {
		select {
		case <-s.opts.Drain: // no slice can finish while the owner is asked
			s.conv.abort(shutdownFailure(nil))
		case <-answered:
		}
	})
	answer, err := s.questions.asker.Ask(ctx, m)
	switch {
	case s.conv.over.Err() != nil:
		return // the run has ended
	case err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		answer = protocol.InteractionResponse{Status: protocol.ResponseTimeout}
	case err != nil:
		s.conv.abort(&Failure{Reason: ReasonRuntimeError, Origin: OriginRuntime,
			Message: "the question could not be put to the owner", Err: err})
		return
	}
	s.sendAnswer(m, answer)
}

// sendAnswer validates the owner's answer and sends it to the connector.
func (s *session) sendAnswer(m protocol.Interaction, answer protocol.InteractionResponse) {
	if answer.Status == "" {
		answer.Status = protocol.ResponseSuccess
	}
	if answer.Status != protocol.ResponseSuccess {
		answer.Data = nil
	}
	answer.RequestID = m.RequestID
	line, err := protocol.AppendLine(nil, &answer)
	_, invalid := protocol.NewDecoder(protocol.ToConnector).Decode(line[:max(len(line)-1, 0)])
	if err != nil || invalid != nil {
		s.conv.abort(&Failure{Reason: ReasonInvalidAnswer, Origin: OriginRuntime,
			Message: "the answer to the question was not in the agreed form"})
		return
	}
	s.secrets.learnAnswer(answer.Data)
	s.timeline.note("run.interaction_completed", m.Stream,
		map[string]any{"request_id": m.RequestID, "status": answer.Status})
	if answer.Status != protocol.ResponseSuccess {
		s.questions.addUnanswered(m.Stream, answer.Status)
	}
	s.conv.touch()
	s.conv.waitingForOwner.Store(false) // before the answer is sent: the connector may reply at once
	s.conv.outgoing <- outgoingLine{"interaction_response", line}
}

func (q *ownerQuestions) addUnanswered(stream string, status protocol.ResponseStatus) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.unanswered) < maxKnownGaps {
		q.unanswered = append(q.unanswered, KnownGap{
			Kind: protocol.KnownInteraction, Reason: "interaction_" + string(status),
			Severity: protocol.SeverityActionable, Stream: stream,
			RecoveryHint: protocol.RecoveryHint{Action: protocol.ManualActionRequired},
		})
	}
}

// secondsDuration converts seconds to a duration, limited to the longest duration.
func secondsDuration(n float64) time.Duration {
	if n >= math.MaxInt64/float64(time.Second) {
		return math.MaxInt64
	}
	return time.Duration(n * float64(time.Second))
}

func (s *session) onAssistance(m *protocol.Assistance) error {
	if _, open := s.questions.assistance[m.RequestID]; open || len(s.questions.assistance) >= maxAssistance {
		return invalidField(m, "",
			fmt.Sprintf("a new assistance_request_id, and at most %d of them", maxAssistance))
	}
	var timer *time.Timer
	if m.TimeoutSeconds != nil {
		timer = time.AfterFunc(secondsDuration(*m.TimeoutSeconds), func() {
			s.conv.abort(&Failure{Reason: ReasonAssistanceTimedOut, Origin: OriginRuntime,
				Message: "the help that the connector asked for did not come in time"})
		})
	}
	s.questions.assistance[m.RequestID] = timer
	s.timeline.note("run.assistance_requested", "", map[string]any{
		"assistance_request_id": m.RequestID, "progress_posture": m.Posture, "owner_action": m.OwnerAction,
	})
	return nil
}

func (s *session) onAssistanceStatus(m *protocol.AssistanceStatus) error {
	timer, open := s.questions.assistance[m.RequestID]
	if !open {
		return &protocol.Violation{Subtype: protocol.UnknownAssistance, MessageType: m.Type(),
			Expected: []string{"the id of an ASSISTANCE of this run"}}
	}
	if timer != nil {
		timer.Stop()
	}
	s.timeline.note("run.assistance_"+string(m.Status), "", map[string]any{"assistance_request_id": m.RequestID})
	return nil
}
