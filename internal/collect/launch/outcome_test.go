package launch

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/protocol"
)

func TestOutcomeKeepsThePace(t *testing.T) {
	if out := storeOutcome(runner.Outcome{Status: runner.Succeeded}); out.Rate != nil {
		t.Errorf("rate of a run that reported none = %s", out.Rate)
	}
	rate := &protocol.CollectionRate{Object: "collection_rate", CurrentIntervalMS: 250, CeilingIntervalMS: 200,
		EffectiveRatePerMin: 240, CeilingRatePerMin: 300}
	want := `{"object":"collection_rate","current_interval_ms":250,"ceiling_interval_ms":200,` +
		`"effective_rate_per_min":240,"ceiling_rate_per_min":300,"last_backoff":null}`
	if out := storeOutcome(runner.Outcome{Status: runner.Failed, Rate: rate}); string(out.Rate) != want {
		t.Errorf("rate = %s, want %s", out.Rate, want)
	}
}

// TestRunLeavesEvidence: what a real run measured is what the store answers for it.
func TestRunLeavesEvidence(t *testing.T) {
	b := newBed(t)
	r := b.run(t, "collects", RunRequest{})
	mustSucceed(t, r)
	all, err := b.store.Evidence(t.Context(), evidence.Query{ConnectionIDs: []string{connection}})
	if err != nil || len(all) != 1 {
		t.Fatalf("evidence = %+v, %v", all, err)
	}
	e := all[0]
	if e.Unreadable != nil || e.Active != nil || e.LastRun == nil || e.LastRun.ID != r.RunID ||
		*e.LastRun.Committed != 2 || e.Records.Retained != 2 {
		t.Errorf("evidence = %+v, last run = %+v", e, e.LastRun)
	}
	if len(e.Streams) == 0 || e.Streams[0].Fact == nil {
		t.Fatalf("streams = %+v", e.Streams)
	}
	two := int64(2)
	want := evidence.Stream{Name: "notes", Required: true, Retained: &two,
		Fact: &evidence.Fact{RunID: r.RunID, RunStatus: evidence.RunSucceeded,
			At: e.LastRun.EndedAt, Collected: 2, Checkpoint: evidence.CheckpointCommitted}}
	if diff := cmp.Diff(want, e.Streams[0]); diff != "" {
		t.Errorf("stream (-want +got):\n%s", diff)
	}
}
