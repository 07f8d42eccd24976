package serve

import (
	"context"
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/collect/interaction"
	"github.com/pdpp-go/pdpp/internal/web/surface"
	"github.com/pdpp-go/pdpp/protocol"
)

// newSurfaces makes the hub of the pages that runs show. A question that a page settles is
// answered wherever its run is.
func (s *process) newSurfaces(ctx context.Context) *surface.Hub {
	return surface.New(ctx, surface.Config{Answer: s.answerPage, Public: s.Base, Machine: s.holder, Meter: s.recorder,
		Log: s.Log})
}

// holder returns the process that executes a run; empty if none does any more.
func (s *process) holder(ctx context.Context, runID string) string {
	run, err := s.Store.Run(ctx, runID)
	if err != nil {
		return ""
	}
	lease, err := s.Store.ActiveLease(ctx, run.ConnectionID)
	if err != nil {
		return "" // it has ended, or the store is away: the page waits
	}
	return lease.Holder
}

// answerPage ends what a run asks the owner to do on its page.
func (s *process) answerPage(ctx context.Context, runID string, done bool) error {
	question, err := s.pageQuestion(ctx, runID)
	if err != nil {
		return err
	}
	answer := protocol.InteractionResponse{Status: protocol.ResponseCancelled}
	if done {
		answer = protocol.InteractionResponse{Status: protocol.ResponseSuccess, Data: jsontext.Value("{}")}
	}
	err = interaction.LeaveAnswer(ctx, s.Store, runID, question, answer, s.Now())
	if errors.Is(err, interaction.ErrAlreadyAnswered) {
		return nil
	}
	if err == nil && s.answers != nil {
		s.answers.Deliver(runID, question) // at once, where it is asked here
	}
	return err
}

// pageQuestion is what a run asks the owner to do on its page; ErrNotPending for nothing.
func (s *process) pageQuestion(ctx context.Context, runID string) (string, error) {
	open, err := s.Store.OpenInteractions(ctx, "")
	if err != nil {
		return "", err
	}
	for _, q := range open {
		if q.RunID == runID && q.Kind == protocol.AskManualAction {
			return q.RequestID, nil
		}
	}
	return "", interaction.ErrNotPending
}
