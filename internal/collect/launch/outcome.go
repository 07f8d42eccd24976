package launch

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
)

// storeOutcome turns a runner's outcome into the row that history keeps.
func storeOutcome(o runner.Outcome) store.RunOutcome {
	out := store.RunOutcome{
		Status: store.RunStatus(o.Status), RecordsEmitted: o.RecordsEmitted, ReportedRecords: o.Reported,
		Checkpoint: encodeJSON(o.Checkpoint), KnownGaps: encodeJSON(o.KnownGaps),
	}
	if o.Facts != nil {
		out.Facts = encodeJSON(o.Facts)
	}
	if o.Rate != nil {
		out.Rate = encodeJSON(o.Rate)
	}
	if f := o.Failure; f != nil {
		out.FailureReason, out.Error = string(f.Reason), f.Message
		out.TerminalReason = string(f.Origin)
	}
	if o.DoneError != nil {
		out.ConnectorError = encodeJSON(o.DoneError)
	}
	if n := len(o.Events); n > 0 {
		out.Before, out.Event = o.Events[:n-1], o.Events[n-1]
	} else {
		out.Event = slice.Event{Type: "run.failed"}
	}
	return out
}

// encodeJSON encodes a value of this program. An error would be a defect here and is stored as null.
func encodeJSON(v any) jsontext.Value {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return jsontext.Value("null")
	}
	return b
}

// NoteManifest records what the connector of a connection declares today.
func NoteManifest(ctx context.Context, st store.Connections, conn *store.Connection, m *manifest.Manifest,
	now time.Time) error {
	body, err := m.JSON()
	if err != nil {
		return fmt.Errorf("encode manifest: %w", err)
	}
	generation, err := st.PutManifest(ctx, conn.ConnectorID, body, now)
	if err != nil {
		return fmt.Errorf("record manifest: %w", err)
	}
	if generation == conn.ManifestGeneration {
		return nil
	}
	conn.ManifestGeneration, conn.UpdatedAt = generation, now
	if err := st.UpdateConnection(ctx, *conn); err != nil {
		return fmt.Errorf("record manifest generation: %w", err)
	}
	return nil
}

// StreamSpecs is what the store needs to know of a connector's streams.
func StreamSpecs(m *manifest.Manifest) []store.StreamSpec {
	out := make([]store.StreamSpec, len(m.Streams))
	for i := range m.Streams {
		out[i].Name, out[i].TimeField = m.Streams[i].Name, m.Streams[i].ConsentTimeField
		out[i].SearchFields = m.Streams[i].Query.SearchFields()
	}
	return out
}
