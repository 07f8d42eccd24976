// Package runview tells a run in the owner's words: how far it has come, what happened in
// it, what it asks and what it could not fetch. It computes from what the store kept of
// the run; the only thing that it asks for itself is the events of one under way.
package runview

import (
	"cmp"
	"context"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/declaration"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// Run tells a run of the connection with the name. How far it has come is read from its timeline while it is under
// way, and from what it measured once it is over.
func (c *Progresses) Run(ctx context.Context, r store.Run, name string, m *manifest.Manifest) (api.Run, error) {
	out := api.Run{
		ID: r.ID, ConnectionID: r.ConnectionID, ConnectorID: r.ConnectorID, DisplayName: name, Trigger: string(r.Trigger), RecoveryOnly: r.RecoveryOnly, Reason: r.FailureReason, Status: string(r.Status),
		RecordsEmitted: r.RecordsEmitted, StartedAt: r.StartedAt, CompletedAt: r.CompletedAt, Streams: []api.RunStream{},
		GrantID: r.GrantID,
	}
	out.Failure, out.FailureCode = Failure(r)
	if r.Status == store.RunRunning {
		var err error
		if out.Streams, out.RecordsEmitted, out.Message, err = c.underway(ctx, r.ID); err != nil {
			return out, err
		}
	} else {
		c.forget(r.ID)
		out.Streams = append(out.Streams, measured(r)...)
	}
	for i := range out.Streams {
		out.Streams[i].Label = declaration.Label(declaration.Stream(m, out.Streams[i].Name), out.Streams[i].Name)
	}
	return out, nil
}

// measured is what a run that is over measured of its streams.
func measured(r store.Run) []api.RunStream {
	var facts runner.Facts
	if len(r.Facts) == 0 || json.Unmarshal(r.Facts, &facts) != nil {
		return nil
	}
	out := make([]api.RunStream, len(facts.Streams))
	for i, f := range facts.Streams {
		out[i] = api.RunStream{Name: f.Stream, Records: f.Collected, Considered: f.Considered}
	}
	return out
}

// Failure is a safe sentence on a run that failed, and the code of the connector or of the
// runtime; both are empty for any other.
func Failure(r store.Run) (line, code string) {
	switch r.Status {
	case store.RunFailed:
	case store.RunAbandoned:
		return "The process that made the run is gone. What it had finished is kept.", cmp.Or(r.FailureReason, string(r.Status))
	default:
		return "", ""
	}
	code = r.FailureReason
	var said protocol.DoneError
	if len(r.ConnectorError) > 0 && json.Unmarshal(r.ConnectorError, &said) == nil && said.Code != "" {
		code = said.Code
	}
	return text.Sentence(cmp.Or(r.Error, "the run failed and gave no reason")), code
}

// Stderr is the end of the connector's stderr by the last event of its run; empty when
// that holds none.
func Stderr(last store.Event) string {
	var told struct {
		Diagnostics struct {
			Stderr string `json:"stderr_tail"`
		} `json:"connector_diagnostics"`
	}
	if len(last.Data) == 0 || json.Unmarshal(last.Data, &told) != nil {
		return ""
	}
	return told.Diagnostics.Stderr
}
