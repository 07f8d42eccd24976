package sqlstore

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"pdpp/internal/keep/store"
)

const keepFactsQuery = `UPDATE streams SET facts_json = ?, facts_run_id = ?, facts_status = ?, facts_at = ?
	WHERE connection_id = ? AND name = ?`

// keepFacts writes what the run measured of each stream beside the stream,
// where it stays until another run measures the stream. Facts that do not parse
// measured nothing.
func (t *tx) keepFacts(h held, o store.RunOutcome) error {
	for _, raw := range streamFacts(o.Facts) {
		var name struct {
			Stream string `json:"stream"`
		}
		if json.Unmarshal(raw, &name) != nil {
			continue
		}
		if _, err := t.exec(keepFactsQuery, text(raw), h.RunID, o.Status, h.now, h.ConnectionID, name.Stream); err != nil {
			return fmt.Errorf("facts of stream %s: %w", name.Stream, err)
		}
	}
	return nil
}

// recordsCommitted is what the summary of checkpoints says became durable; a run
// without one is taken by what it emitted.
func recordsCommitted(checkpoint jsontext.Value, emitted int64) int64 {
	var summary struct {
		Flushed *int64 `json:"records_flushed"`
	}
	if len(checkpoint) > 0 && json.Unmarshal(checkpoint, &summary) == nil && summary.Flushed != nil {
		return *summary.Flushed
	}
	return emitted
}

func streamFacts(facts jsontext.Value) []jsontext.Value {
	if len(facts) == 0 {
		return nil
	}
	var all struct {
		Streams []jsontext.Value `json:"streams"`
	}
	if json.Unmarshal(facts, &all) != nil {
		return nil
	}
	return all.Streams
}
