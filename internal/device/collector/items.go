package collector

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"pdpp/internal/device/outbox"
	"pdpp/internal/device/wire"
	"pdpp/internal/slice"
)

// What an item of the outbox carries.
type (
	batchPayload struct {
		BatchSeq int64          `json:"batch_seq"`
		Records  []slice.Record `json:"records"`
	}
	checkpointPayload struct {
		State cursors `json:"state"`
	}
)

// batches cuts the records into uploads, in their order.
func (s *sink) batches(records []slice.Record) [][]slice.Record {
	var out [][]slice.Record
	policy, size := s.pass.policy, 0
	for _, r := range records {
		last := len(out) - 1
		if last < 0 || len(out[last]) == policy.BatchRecords || size+len(r.Data) > policy.BatchBytes {
			out, last, size = append(out, nil), last+1, 0
		}
		out[last] = append(out[last], r)
		size += len(r.Data)
	}
	return out
}

func (s *sink) batchItem(records []slice.Record) (outbox.Item, error) {
	s.seq++
	item, err := s.item(outbox.RecordBatch, batchPayload{s.seq, records})
	if err != nil {
		return item, err
	}
	item.BodyHash, err = wire.BodyHash(records)
	return item, err
}

// item makes a queue item with an id that no other has: the run's, its number
// in the run, and its content.
func (s *sink) item(kind outbox.Kind, payload any) (outbox.Item, error) {
	s.items++
	return newItem(kind, s.pass.c.Profile.SourceInstanceID, fmt.Sprintf("%s/%d", s.runID, s.items), payload)
}

func newItem(kind outbox.Kind, source, name string, payload any) (outbox.Item, error) {
	body, err := json.Marshal(payload, json.Deterministic(true))
	if err != nil {
		return outbox.Item{}, fmt.Errorf("encode an upload: %w", err)
	}
	hash := sha256.Sum256(body)
	sum := hex.EncodeToString(hash[:])
	id := sha256.Sum256([]byte(strings.Join([]string{source, name, string(kind), sum}, "\x00")))
	return outbox.Item{ID: outbox.IDPrefix + hex.EncodeToString(id[:]), SourceInstanceID: source, Kind: kind, Payload: body, BodyHash: sum}, nil
}

// declared sums up the gaps that the server has not been told of, one message
// per stream.
func (s *sink) declared(gaps []slice.Gap) ([]wire.Gap, error) {
	counts := map[string]map[string]int{} // of reasons, by stream
	for _, g := range gaps {
		if have := s.ledger.gaps[gapID(g)]; g.GapID != "" || have != nil && have.Reason == g.Reason {
			continue
		}
		if counts[g.Stream] == nil {
			counts[g.Stream] = map[string]int{}
		}
		counts[g.Stream][string(g.Reason)]++
	}
	var out []wire.Gap
	for _, stream := range slices.Sorted(maps.Keys(counts)) {
		details, err := json.Marshal(map[string]any{"missing": counts[stream]}, json.Deterministic(true))
		if err != nil {
			return nil, fmt.Errorf("encode a gap: %w", err)
		}
		p := s.pass.c.Profile
		out = append(out, wire.Gap{SourceInstanceID: p.SourceInstanceID, ConnectorID: p.ConnectorID, Reason: wire.GapPolicyBudget, Stream: stream,
			FirstSeenAt: s.pass.now().UTC(), Retryable: true, NextAttemptBackoffMS: gapBackoff.Milliseconds(),
			Details: details, FirstSeenRunID: s.runID, LastRunID: s.runID})
	}
	return out, nil
}
