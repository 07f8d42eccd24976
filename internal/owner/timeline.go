package owner

import (
	"context"
	"encoding/json"

	"pdpp/internal/ownerapi"
)

// Types of events that more than one file reads.
const (
	eventProgress = "run.progress_reported"
	eventStored   = "run.batch_ingested"
)

// Timeline gives the events of a run that follow after; at most a page of them.
func (s *Service) Timeline(ctx context.Context, runID string, after int64) ([]ownerapi.Event, error) {
	run, err := s.run(ctx, runID)
	if err != nil {
		return nil, err
	}
	events, err := s.Store.RunEvents(ctx, runID, max(after, 0), eventPage)
	if err != nil {
		return nil, told(err, "read the timeline")
	}
	m, err := s.manifest(ctx, run.ConnectorID)
	if err != nil {
		return nil, err
	}
	out := make([]ownerapi.Event, len(events))
	for i, e := range events {
		out[i] = ownerapi.Event{
			Seq: e.Seq, Type: e.Type, At: e.At, Stream: e.Stream, Text: eventText(e, m), Data: json.RawMessage(e.Data),
		}
	}
	return out, nil
}
