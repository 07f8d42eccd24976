package interaction

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// Why an answer is not taken. No fault holds anything of the answer.
var (
	ErrNotPending = &usererr.Error{Status: http.StatusNotFound, Code: "no_pending_interaction",
		Message: "no question of this run waits for an answer",
		Next:    "The question was answered, expired or ended with its run. If the run failed over it, start another."}
	ErrMismatch = &usererr.Error{Status: http.StatusConflict, Code: "interaction_id_mismatch",
		Message: "the run asks another question",
		Next:    "Read the open question again, and answer that one."}
	ErrInvalidStatus = &usererr.Error{Status: http.StatusBadRequest, Param: "status", Code: "invalid_status",
		Message: "an answer's status is success or cancelled",
		Next:    "Send one of the two."}
	ErrAlreadyAnswered = &usererr.Error{Status: http.StatusConflict, Code: "interaction_already_answered",
		Message: "the question has an answer",
		Next:    "Wait for the run to take it up. If it asks again, answer that question."}
	ErrElsewhere = &usererr.Error{Status: http.StatusConflict, Code: "interaction_answered_elsewhere",
		Message: "the question can be answered only where the run was started",
		Next:    "Answer it in the terminal that shows it."}
	ErrInvalidAnswer = &usererr.Error{Status: http.StatusBadRequest, Param: "data", Code: "invalid_answer",
		Message: "the answer does not fit the question's form",
		Next:    "Correct these fields, and send it again."}
	ErrFormUnreadable = &usererr.Error{Status: http.StatusConflict, Code: "interaction_form_unreadable",
		Message: "the connector's form cannot be read",
		Next:    "Cancel the question, and report the connector."}
)

// LeaveAnswer leaves the owner's answer for the run that asked, wherever it runs.
// Status is success or cancelled. It does not wait for the run to take it up.
func LeaveAnswer(ctx context.Context, s Store, runID, requestID string, r protocol.InteractionResponse,
	now time.Time) error {
	if r.Status != protocol.ResponseSuccess && r.Status != protocol.ResponseCancelled {
		return ErrInvalidStatus
	}
	q, err := pending(ctx, s, runID, requestID, now)
	if err != nil {
		return err
	}
	if len(q.Key) == 0 {
		return ErrElsewhere
	}
	r.RequestID = requestID
	if r.Status == protocol.ResponseCancelled {
		r.Data = nil
	} else if err := checkForm(q.Schema, r.Data); err != nil {
		return err
	}
	sealed, err := seal(q.Key, questionID{runID, requestID}, r)
	if err != nil {
		return err
	}
	err = s.AnswerInteraction(ctx, runID, requestID, sealed, now)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return ErrNotPending
	case errors.Is(err, store.ErrExists):
		return ErrAlreadyAnswered
	case err != nil:
		return fmt.Errorf("leave the answer: %w", err)
	}
	return nil
}

// pending finds the question among those that wait.
func pending(ctx context.Context, s Store, runID, requestID string, now time.Time) (store.Interaction, error) {
	open, err := s.OpenInteractions(ctx, "")
	if err != nil {
		return store.Interaction{}, fmt.Errorf("read the open questions: %w", err)
	}
	open = slices.DeleteFunc(open, func(q store.Interaction) bool {
		return q.RunID != runID || q.ExpiresAt != nil && !q.ExpiresAt.After(now)
	})
	if len(open) == 0 {
		return store.Interaction{}, ErrNotPending
	}
	i := slices.IndexFunc(open, func(q store.Interaction) bool { return q.RequestID == requestID })
	if i < 0 {
		return store.Interaction{}, ErrMismatch
	}
	return open[i], nil
}
