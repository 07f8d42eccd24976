package owner

import (
	"cmp"
	"context"

	"github.com/go-json-experiment/json"

	"pdpp/internal/ownerapi"
	"pdpp/internal/runner"
	"pdpp/internal/store"
	"pdpp/manifest"
	"pdpp/protocol"
)

const (
	usualRuns = 50
	mostRuns  = 500
)

// Runs lists runs, the newest first.
func (s *Service) Runs(ctx context.Context, connectionID string, limit int) ([]ownerapi.Run, error) {
	names := map[string]string{}
	if connectionID != "" {
		conn, err := s.connection(ctx, connectionID)
		if err != nil {
			return nil, err
		}
		names[conn.ID] = conn.DisplayName
	} else {
		var err error
		if names, err = s.names(ctx); err != nil {
			return nil, err
		}
	}
	if limit <= 0 {
		limit = usualRuns
	}
	runs, err := s.Store.ListRuns(ctx, store.RunQuery{ConnectionID: connectionID, Limit: min(limit, mostRuns)})
	if err != nil {
		return nil, told(err, "list the runs")
	}
	declared := s.library()
	out := make([]ownerapi.Run, len(runs))
	for i, r := range runs {
		m, err := declared.of(ctx, r.ConnectorID)
		if err != nil {
			return nil, err
		}
		if out[i], err = s.showRun(ctx, r, names[r.ConnectionID], m); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// RunByID gives one run.
func (s *Service) RunByID(ctx context.Context, runID string) (ownerapi.Run, error) {
	r, err := s.run(ctx, runID)
	if err != nil {
		return ownerapi.Run{}, err
	}
	conn, err := s.connection(ctx, r.ConnectionID)
	if err != nil {
		return ownerapi.Run{}, err
	}
	m, err := s.manifest(ctx, r.ConnectorID)
	if err != nil {
		return ownerapi.Run{}, err
	}
	return s.showRun(ctx, r, conn.DisplayName, m)
}

// showRun tells a run. How far it has come is read from its timeline while it is under
// way, and from what it measured once it is over.
func (s *Service) showRun(ctx context.Context, r store.Run, name string, m *manifest.Manifest) (ownerapi.Run, error) {
	out := ownerapi.Run{
		ID: r.ID, ConnectionID: r.ConnectionID, ConnectorID: r.ConnectorID, DisplayName: name, Trigger: string(r.Trigger), Status: string(r.Status),
		RecordsEmitted: r.RecordsEmitted, StartedAt: r.StartedAt, CompletedAt: r.CompletedAt, Streams: []ownerapi.RunStream{},
	}
	if r.Status == store.RunFailed || r.Status == store.RunAbandoned {
		out.Failure, out.FailureCode = failureOf(r)
	}
	if r.Status == store.RunRunning {
		var err error
		if out.Streams, out.RecordsEmitted, err = s.underway(ctx, r.ID); err != nil {
			return out, err
		}
	} else {
		s.courses.forget(r.ID)
		out.Streams = append(out.Streams, measured(r)...)
	}
	for i := range out.Streams {
		out.Streams[i].Label = labelOf(stream(m, out.Streams[i].Name), out.Streams[i].Name)
	}
	return out, nil
}

// underway reads how far a run has come, and how many records it has stored.
func (s *Service) underway(ctx context.Context, runID string) (streams []ownerapi.RunStream, stored int64, err error) {
	c := s.courses.of(runID)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.follow(ctx, s.Store, runID); err != nil {
		return nil, 0, told(err, "read the timeline")
	}
	now := s.Now()
	streams = make([]ownerapi.RunStream, len(c.streams))
	for i, st := range c.streams {
		streams[i] = st.show(now)
	}
	return streams, c.stored, nil
}

// measured is what a run that is over measured of its streams.
func measured(r store.Run) []ownerapi.RunStream {
	var facts runner.Facts
	if len(r.Facts) == 0 || json.Unmarshal(r.Facts, &facts) != nil {
		return nil
	}
	out := make([]ownerapi.RunStream, len(facts.Streams))
	for i, f := range facts.Streams {
		out[i] = ownerapi.RunStream{Name: f.Stream, Records: f.Collected, Considered: f.Considered}
	}
	return out
}

// failureOf is a safe sentence, and the code of the connector or of the runtime.
func failureOf(r store.Run) (text, code string) {
	if r.Status == store.RunAbandoned {
		return "The process that made the run is gone. What it had finished is kept.", cmp.Or(r.FailureReason, string(r.Status))
	}
	code = r.FailureReason
	var said protocol.DoneError
	if len(r.ConnectorError) > 0 && json.Unmarshal(r.ConnectorError, &said) == nil && said.Code != "" {
		code = said.Code
	}
	return sentence(cmp.Or(r.Error, "the run failed and gave no reason")), code
}
