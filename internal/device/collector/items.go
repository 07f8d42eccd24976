package collector

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/device/outbox"
	"github.com/pdpp-go/pdpp/internal/device/wire"
	"github.com/pdpp-go/pdpp/internal/slice"
)

// What an item of the outbox carries.
type (
	// batchPayload is the metadata of a packed batch. Items that an earlier version wrote also contain the
	// records.
	batchPayload struct {
		RunID   string         `json:"run_id,omitzero"`
		Count   int            `json:"count,omitzero"`
		Bytes   int64          `json:"bytes,omitzero"` // of the records' JSON
		Files   []slice.Blob   `json:"files,omitempty"`
		Records []slice.Record `json:"records,omitempty"`
	}
	checkpointPayload struct {
		RunID string  `json:"run_id,omitzero"`
		State cursors `json:"state"`
	}
	gapPayload struct {
		RunID     string             `json:"run_id,omitzero"`
		At        time.Time          `json:"at"`
		Gaps      []slice.Gap        `json:"gaps,omitempty"`
		Attempted []wire.GapIdentity `json:"attempted,omitempty"`
		Recovered []wire.GapIdentity `json:"recovered,omitempty"`
		// Closed are the streams of which nothing is missing any more.
		Closed []string `json:"closed,omitempty"`
		Failed bool     `json:"failed,omitzero"` // the connector
		Fixed  bool     `json:"fixed,omitzero"`  // it works again
		Mended bool     `json:"mended,omitzero"` // the name of Fixed in outboxes of earlier versions
	}
)

func (g *gapPayload) empty() bool {
	return len(g.Gaps)+len(g.Attempted)+len(g.Recovered)+len(g.Closed) == 0
}

func (s *sink) batchItem(records []slice.Record) (outbox.QueuedItem, error) {
	packed, err := s.packer.Pack(records)
	if err != nil {
		return outbox.QueuedItem{}, err
	}
	payload, err := json.Marshal(batchPayload{RunID: s.runID, Count: packed.Count, Bytes: packed.Bytes,
		Files: filesOf(records)})
	if err != nil {
		return outbox.QueuedItem{}, fmt.Errorf("encode an upload: %w", err)
	}
	s.items++
	item := identified(outbox.RecordBatch, s.pass.c.Profile.SourceInstanceID, s.itemName(), payload, packed.Hash)
	item.Packed = packed.Gzip
	return item, nil
}

func filesOf(records []slice.Record) (files []slice.Blob) {
	for i := range records {
		files = append(files, records[i].Blobs...)
	}
	return files
}

func (s *sink) itemName() string { return fmt.Sprintf("%s/%d", s.runID, s.items) }

// item makes a queue item with an id that no other has: the run's, its number
// in the run, and its content.
func (s *sink) item(kind outbox.ItemKind, payload any) (outbox.QueuedItem, error) {
	s.items++
	return newItem(kind, s.pass.c.Profile.SourceInstanceID, s.itemName(), payload)
}

func newItem(kind outbox.ItemKind, source, name string, payload any) (outbox.QueuedItem, error) {
	body, err := json.Marshal(payload, json.Deterministic(true))
	if err != nil {
		return outbox.QueuedItem{}, fmt.Errorf("encode an upload: %w", err)
	}
	hash := sha256.Sum256(body)
	return identified(kind, source, name, body, hex.EncodeToString(hash[:])), nil
}

func identified(kind outbox.ItemKind, source, name string, payload jsontext.Value, hash string) outbox.QueuedItem {
	id := sha256.Sum256([]byte(strings.Join([]string{source, name, string(kind), hash}, "\x00")))
	return outbox.QueuedItem{ID: outbox.IDPrefix + hex.EncodeToString(id[:]), SourceInstanceID: source, Kind: kind,
		Payload: payload, BodyHash: hash}
}

// gaps returns the gap changes of a slice. It also includes gaps that are already in the ledger: the
// ledger is written first, so the server may not know them yet.
func (s *sink) gaps(part *slice.Slice) *gapPayload {
	out := &gapPayload{RunID: s.runID, At: s.pass.now().UTC()}
	for _, g := range part.Gaps {
		if g.GapID == "" { // one that was handed out stays what it is
			out.Gaps = append(out.Gaps, g)
		}
	}
	for _, r := range part.Attempts {
		out.Attempted = append(out.Attempted, s.ledger.identity(r.GapID))
	}
	left := map[string]int{} // gaps, by stream
	for _, g := range s.ledger.gaps {
		left[g.Stream]++
	}
	for _, r := range part.Recovered {
		g := s.ledger.identity(r.GapID)
		out.Recovered = append(out.Recovered, g)
		if left[g.Stream]--; left[g.Stream] == 0 &&
			!slices.ContainsFunc(part.Gaps, func(n slice.Gap) bool { return n.Stream == g.Stream }) {
			out.Closed = append(out.Closed, g.Stream)
		}
	}
	return out
}

// reports are the messages for a server that takes no single gaps: how many are missing,
// by stream and reason.
func (g *gapPayload) reports(source, connector string) ([]wire.Gap, error) {
	counts := map[string]map[string]int{}
	var streams []string
	for _, gap := range g.Gaps {
		if counts[gap.Stream] == nil {
			counts[gap.Stream] = map[string]int{}
			streams = append(streams, gap.Stream)
		}
		counts[gap.Stream][string(gap.Reason)]++
	}
	var out []wire.Gap
	for _, stream := range streams {
		details, err := json.Marshal(map[string]any{"missing": counts[stream]}, json.Deterministic(true))
		if err != nil {
			return nil, fmt.Errorf("encode a gap: %w", err)
		}
		report := g.report(source, connector, wire.GapPolicyBudget)
		report.Stream, report.Details = stream, details
		out = append(out, report)
	}
	return out, nil
}

// gapBackoff is when the server may expect another attempt at what was not collected.
const gapBackoff = 15 * time.Minute

func (g *gapPayload) report(source, connector, reason string) wire.Gap {
	return wire.Gap{SourceInstanceID: source, ConnectorID: connector, Reason: reason, FirstSeenAt: g.At, Retryable: true,
		NextAttemptBackoffMS: gapBackoff.Milliseconds(), FirstSeenRunID: g.RunID, LastRunID: g.RunID}
}
