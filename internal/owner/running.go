package owner

import (
	"context"
	"errors"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"pdpp/internal/interaction"
	"pdpp/internal/ownerapi"
	"pdpp/internal/scheduler"
	"pdpp/internal/store"
	"pdpp/protocol"
)

// Run asks for a run now, whatever the schedule says.
func (s *Service) Run(ctx context.Context, connectionID string) error {
	conn, err := s.living(ctx, connectionID)
	if err != nil {
		return err
	}
	if conn.SourceKind == store.SourceLocalDevice {
		return ownerapi.Invalid("connection_id", "A device of yours collects this.", "Start it there, with pdpp-local-collector run.")
	}
	r := store.RunRequest{ConnectionID: conn.ID, Trigger: store.TriggerManual, RequestedAt: s.Now()}
	return told(scheduler.RunNow(ctx, s.Store, r), "ask for the run")
}

// Cancel stops a run that is under way. What it has finished is kept.
func (s *Service) Cancel(ctx context.Context, runID string) error {
	if _, err := s.run(ctx, runID); err != nil {
		return err
	}
	err := s.Store.RequestCancel(ctx, runID, s.Now())
	if errors.Is(err, store.ErrNotFound) {
		return &ownerapi.Error{Status: http.StatusNotFound, Code: ownerapi.CodeNoActiveRun, Err: err,
			Message: "The run is over.", Next: "See how it ended."}
	}
	return told(err, "stop the run")
}

func (s *Service) run(ctx context.Context, id string) (store.Run, error) {
	r, err := s.Store.Run(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return r, noRun(err)
	}
	return r, told(err, "read the run")
}

// question is the oldest open question of a run that has not run out.
func (s *Service) question(ctx context.Context, runID string) (store.Interaction, error) {
	run, err := s.run(ctx, runID)
	if err != nil {
		return store.Interaction{}, err
	}
	open, err := s.Store.OpenInteractions(ctx, run.ConnectionID)
	if err != nil {
		return store.Interaction{}, told(err, "read the open questions")
	}
	now := s.Now()
	for _, q := range open {
		if q.RunID == runID && (q.ExpiresAt == nil || q.ExpiresAt.After(now)) {
			return q, nil
		}
	}
	return store.Interaction{}, answerError(interaction.ErrNotPending)
}

// Question gives what a run waits for.
func (s *Service) Question(ctx context.Context, runID string) (ownerapi.Question, error) {
	q, err := s.question(ctx, runID)
	if err != nil {
		return ownerapi.Question{}, err
	}
	fields, err := questionFields(q)
	if err != nil {
		return ownerapi.Question{}, answerError(interaction.ErrFormUnreadable)
	}
	out := ownerapi.Question{
		RunID: q.RunID, RequestID: q.RequestID, Kind: string(q.Kind), Message: q.Message, ExpiresAt: q.ExpiresAt, Fields: []ownerapi.QuestionField{},
	}
	out.Fields = append(out.Fields, fields...)
	return out, nil
}

// Answer answers the open question of a run. The answer is sealed for that run and
// kept nowhere else.
func (s *Service) Answer(ctx context.Context, runID string, a ownerapi.Answer) error {
	q, err := s.question(ctx, runID)
	if err != nil {
		return err
	}
	response := protocol.InteractionResponse{Status: protocol.ResponseStatus(a.Status)}
	if q.RequestID == a.RequestID && response.Status == protocol.ResponseSuccess {
		if response.Data, err = answerData(q, a.Data); err != nil {
			return err
		}
	}
	err = interaction.Answer(ctx, s.Store, runID, a.RequestID, response, s.Now())
	return told(err, "leave the answer")
}

// answerData turns what was typed into the object that the question's form asks for.
func answerData(q store.Interaction, typed map[string]string) (jsontext.Value, error) {
	fields, err := questionFields(q)
	if err != nil {
		return nil, answerError(interaction.ErrFormUnreadable)
	}
	known := map[string]bool{}
	data := map[string]any{}
	for _, f := range fields {
		known[f.Name] = true
		value, given, err := typedValue(f, typed[f.Name])
		if err != nil {
			return nil, err
		}
		if given {
			data[f.Name] = value
		}
	}
	for name := range typed {
		if !known[name] {
			return nil, ownerapi.Invalid("data", "The question has no such field.", "Answer the fields of the question.")
		}
	}
	body, err := json.Marshal(data, json.Deterministic(true))
	if err != nil {
		return nil, ownerapi.Invalid("data", "The answer is not text.", "Enter it again.")
	}
	return body, nil
}
