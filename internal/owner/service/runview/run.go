// Package runview describes a run in the owner's words: its progress, its events, its questions, and what it could
// not fetch. It uses stored data of the run. It reads only the events of an active run itself.
package runview

import (
	"cmp"
	"context"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/declaration"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// Run describes a run of the connection with the name. It reads the progress of an active run from its timeline, and
// that of a finished run from its measurements.
func (c *ProgressTracker) Run(ctx context.Context, r store.Run, name string, m *manifest.Manifest) (api.Run, error) {
	out := api.Run{
		ID: r.ID, ConnectionID: r.ConnectionID, ConnectorID: r.ConnectorID, DisplayName: name, Trigger: string(r.Trigger),
		RecoveryOnly: r.RecoveryOnly, Reason: r.FailureReason, Status: string(r.Status),
		RecordsEmitted: r.RecordsEmitted, StartedAt: r.StartedAt, CompletedAt: r.CompletedAt, Streams: []api.RunStream{},
		GrantID: r.GrantID,
	}
	out.Failure, out.FailureCode = DescribeFailure(r)
	if r.Status == store.RunRunning {
		var err error
		if out.Streams, out.RecordsEmitted, out.Message, err = c.activeProgress(ctx, r.ID); err != nil {
			return out, err
		}
	} else {
		c.dropFinished(r.ID)
		out.Streams = append(out.Streams, measuredProgress(r)...)
	}
	for i := range out.Streams {
		out.Streams[i].Label = declaration.StreamLabel(declaration.DescribeStream(m, out.Streams[i].Name),
			out.Streams[i].Name)
	}
	return out, nil
}

// measuredProgress is what a run that is over measured of its streams.
func measuredProgress(r store.Run) []api.RunStream {
	var facts runner.CollectionFacts
	if len(r.Facts) == 0 || json.Unmarshal(r.Facts, &facts) != nil {
		return nil
	}
	out := make([]api.RunStream, len(facts.Streams))
	for i, f := range facts.Streams {
		out[i] = api.RunStream{Name: f.Stream, Records: f.Collected, Considered: f.Considered}
	}
	return out
}

// DescribeFailure is a safe sentence on a run that failed, and the code of the connector or of the
// runtime; both are empty for any other.
func DescribeFailure(r store.Run) (line, code string) {
	switch r.Status {
	case store.RunFailed:
	case store.RunAbandoned:
		return "The process that made the run is gone. What it had finished is kept.",
			cmp.Or(r.FailureReason, string(r.Status))
	default:
		return "", ""
	}
	code = r.FailureReason
	var doneError protocol.DoneError
	if len(r.ConnectorError) > 0 && json.Unmarshal(r.ConnectorError, &doneError) == nil && doneError.Code != "" {
		code = doneError.Code
	}
	return text.Sentence(cmp.Or(r.Error, "the run failed and gave no reason")), code
}

// ErrorOutput is the end of the connector's stderr by the last event of its run; empty when
// that holds none.
func ErrorOutput(last store.Event) string {
	var reported struct {
		Diagnostics struct {
			Stderr string `json:"stderr_tail"`
		} `json:"connector_diagnostics"`
	}
	if len(last.Data) == 0 || json.Unmarshal(last.Data, &reported) != nil {
		return ""
	}
	return reported.Diagnostics.Stderr
}
