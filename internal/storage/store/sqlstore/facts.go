package sqlstore

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

const storeFactsQuery = `UPDATE streams SET facts_json = ?, facts_run_id = ?, facts_status = ?, facts_at = ?
	WHERE connection_id = ? AND name = ?`

// storeFacts writes what the run measured about each stream into the stream's row, where it stays until another run
// measures the stream. Unparsable facts count as no measurement.
func (t *tx) storeFacts(h heldLease, o store.RunOutcome) error {
	measured := streamFacts(o.Facts)
	if len(measured) == 0 {
		return nil
	}
	before, err := t.storedDrift(h.ConnectionID)
	if err != nil {
		return err
	}
	for _, raw := range measured {
		var name struct {
			Stream string                `json:"stream"`
			Drift  *protocol.AnswerDrift `json:"answer_drift"`
		}
		if json.Unmarshal(raw, &name) != nil {
			continue
		}
		if was := before[name.Stream]; was != nil || name.Drift != nil {
			if raw, err = withDrift(raw, name.Drift.After(was)); err != nil {
				return err
			}
		}
		if _, err := t.exec(storeFactsQuery, jsonOrNull(raw), h.RunID, o.Status, h.now, h.ConnectionID,
			name.Stream); err != nil {
			return fmt.Errorf("facts of stream %s: %w", name.Stream, err)
		}
	}
	return nil
}

// storedDrift returns the drift that earlier runs measured, by stream. A run measures only part of it: a total, for
// example, only in a full walk.
func (t *tx) storedDrift(connectionID string) (map[string]*protocol.AnswerDrift, error) {
	rows, err := t.rows(`SELECT name, facts_json FROM streams
		WHERE connection_id = ? AND facts_json LIKE '%"answer_drift"%'`, connectionID)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[string]*protocol.AnswerDrift{}
	for rows.Next() {
		var name string
		var facts []byte
		if err := rows.Scan(&name, &facts); err != nil {
			return nil, err
		}
		var kept struct {
			Drift *protocol.AnswerDrift `json:"answer_drift"`
		}
		if json.Unmarshal(facts, &kept) == nil && kept.Drift != nil {
			out[name] = kept.Drift
		}
	}
	return out, rows.Err()
}

// withDrift replaces the drift in a stream's facts; nil removes it.
func withDrift(facts jsontext.Value, drift *protocol.AnswerDrift) (jsontext.Value, error) {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(facts, &members); err != nil {
		return nil, err
	}
	delete(members, "answer_drift")
	if drift != nil {
		raw, err := json.Marshal(drift)
		if err != nil {
			return nil, err
		}
		members["answer_drift"] = raw
	}
	return json.Marshal(members, json.Deterministic(true))
}

// recordsCommitted returns the committed records of the checkpoint summary. A run without one counts what it emitted.
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
