package storetest

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// evidenceManifest declares the streams of the connections that FillEvidence creates.
const evidenceManifest = `{"protocol_version":"0.1.0","connector_id":"example","version":"1.0.0",
		"display_name":"Example",
	"capabilities":{"refresh_policy":{"recommended_mode":"automatic","rationale":"It is quick.",
	"maximum_staleness_seconds":86400}},
	"streams":[
		{"name":"items","semantics":"append_only","schema":{"type":"object","properties":{"id":{"type":"string"}}},
		"primary_key":["id"]},
		{"name":"lists","semantics":"append_only","schema":{"type":"object","properties":{"id":{"type":"string"}}},
		"primary_key":["id"]},
		{"name":"extras","semantics":"append_only","schema":{"type":"object","properties":{"id":{"type":"string"}}},
		"primary_key":["id"],
			"required":false,"coverage_policy":"inventory_only"}]}`

const evidenceFacts = `{"schema_version":1,"reference_only":true,"streams":[
	{"stream":"items","collected":%d,"considered":%d,"covered":%d,"checkpoint":"committed","pending_detail_gaps":0,
	"skipped":null},
	{"stream":"lists","collected":1,"considered":1,"covered":1,"checkpoint":"committed","pending_detail_gaps":0,
	"skipped":null},
	{"stream":"extras","collected":0,"checkpoint":"none","pending_detail_gaps":0,"skipped":{"reason":"out_of_scope",
	"recovery_action":"not_retriable"}}]}`

// FillEvidence fills an empty store with n typical connections: each with three streams, one successful run and a
// schedule, every tenth with gaps, every twentieth fed by a device.
func FillEvidence(ctx context.Context, s store.Store, n int) error {
	generation, err := s.PutManifest(ctx, "example", []byte(evidenceManifest), Now)
	if err != nil {
		return err
	}
	device := store.Device{ID: "dexp1", DisplayName: "Laptop", Status: "active", CreatedAt: Now, UpdatedAt: Now}
	if err := s.PutDevice(ctx, device); err != nil {
		return err
	}
	for i := range n {
		if err := fillConnection(ctx, s, i, generation); err != nil {
			return fmt.Errorf("connection %d: %w", i, err)
		}
	}
	return nil
}

// FilledDevices is how many connections FillEvidence creates for each one that a device collects.
const FilledDevices = 20

// evidenceID is the id of connection i of FillEvidence; ids are in order.
func evidenceID(i int) string { return fmt.Sprintf("cin_example_%05d", i) }

func fillConnection(ctx context.Context, s store.Store, i int, generation int64) error {
	id := evidenceID(i)
	kind := store.SourceAccount
	if i%FilledDevices == 0 {
		kind = store.SourceLocalDevice
	}
	err := s.CreateConnection(ctx, store.Connection{ID: id, ConnectorID: "example", DisplayName: "Example",
		Status:     store.ConnectionActive,
		SourceKind: kind, ManifestGeneration: generation, CreatedAt: Now, UpdatedAt: Now})
	if err != nil {
		return err
	}
	l, err := s.StartRun(ctx, runStart(id, "run_"+id, store.StreamSpec{Name: "items"}, store.StreamSpec{Name: "lists"},
		store.StreamSpec{Name: "extras"}), Now)
	if err != nil {
		return err
	}
	part := slice.Slice{Records: BenchRecords(i, 3, 1)}
	if i%10 == 0 {
		for gap, reason := range []protocol.Reason{protocol.ReasonRateLimited, protocol.ReasonRateLimited,
			protocol.ReasonRunCapDeferred} {
			part.Gaps = append(part.Gaps,
				slice.Gap{Stream: "items", ParentStream: "lists", RecordKey: fmt.Sprint("missing-", gap), Reason: reason,
					Retryable: true})
		}
	}
	if _, err := s.CommitSlice(ctx, l, part, Now); err != nil {
		return err
	}
	end := Now.Add(time.Minute)
	err = s.FinishRun(ctx, l, store.RunOutcome{
		Status: store.RunSucceeded, RecordsEmitted: 3, Event: slice.Event{Type: "run.completed"},
		Facts: fmt.Appendf(nil, evidenceFacts, i, i, i),
		Checkpoint: jsontext.Value(`{"mode":"checkpointed_streaming","commit_status":"committed",` +
			`"state_streams_staged":[],"state_streams_committed":["items"],` +
			`"buffered_records_dropped":0,"records_attempted":3,"records_accepted":3,"records_flushed":3,"slices_committed":1}`),
		Rate: jsontext.Value(`{"object":"collection_rate","current_interval_ms":250,"ceiling_interval_ms":200,` +
			`"effective_rate_per_min":240,"ceiling_rate_per_min":300,"last_backoff":null}`),
	}, end)
	if err != nil {
		return err
	}
	if kind == store.SourceLocalDevice {
		err := s.PutDeviceSource(ctx, store.DeviceSource{ID: "dsrc_" + id, DeviceID: "dexp1", ConnectorID: "example",
			ConnectionID: id, SourceKind: kind,
			Status: "active", LastHeartbeatAt: &end, LastHeartbeatStatus: "healthy", RecordsPending: new(int64), CreatedAt: Now,
			UpdatedAt: end,
			OutboxDiagnostics: jsontext.Value(`{"pending":0,"retrying":0,"leased":0,"stale_leases":0,"dead_letter":0,` +
				`"succeeded":9,"total":9,"backlog_open":0}`)})
		if err != nil {
			return err
		}
	}
	return s.PutSchedule(ctx, store.Schedule{ConnectionID: id, IntervalSeconds: 3600, Enabled: true, CreatedAt: Now,
		UpdatedAt: Now})
}
