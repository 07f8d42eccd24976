package service

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// child returns the limits that the garden's process was started with, as its record reports them.
func (b *serviceHarness) child(id string, general map[string]string) (pace, details, wall string) {
	b.t.Helper()
	b.makeRun(id, func(l *launch.Launcher, _ *launch.RunRequest) {
		l.Lookup = func(name string) (string, bool) { v, ok := general[name]; return v, ok }
	})
	r, _, err := b.Record(b.ctx(), id, "beds", "b1")
	b.requireNoError(err)
	var data struct{ Pace, Details, Wall string }
	b.requireNoError(json.Unmarshal(r.Data, &data))
	return data.Pace, data.Details, data.Wall
}

// The owner's limits reach the connector's process. If the environment sets a limit too, the stricter one applies.
func TestLimitsReachTheConnector(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "RC-03")
	b := newServiceHarness(t)
	id := b.connect("trowel").ID
	if pace, details, wall := b.child(id, nil); pace+details+wall != "" {
		t.Errorf("without limits it got %q, %q, %q", pace, details, wall)
	}
	b.requireNoError(b.SetLimits(b.ctx(), id, api.Limits{CeilingPerMinute: 60, MaxSeconds: 90, MaxDetails: 40}))
	if pace, details, wall := b.child(id, nil); pace != "1000" || details != "40" || wall != "90000" {
		t.Errorf("it got %q, %q, %q", pace, details, wall)
	}
	stricter := map[string]string{"PDPP_GARDEN_PACING_MIN_INTERVAL_MS": "5000",
		"PDPP_GARDEN_MAX_DETAIL_FETCHES_PER_RUN": "7", "PDPP_GARDEN_MAX_RUN_WALL_CLOCK_MS": "100"}
	if pace, details, wall := b.child(id, stricter); pace != "5000" || details != "7" || wall != "100" {
		t.Errorf("beside a stricter word it got %q, %q, %q", pace, details, wall)
	}
	laxer := map[string]string{"PDPP_GARDEN_PACING_MIN_INTERVAL_MS": "1", "PDPP_GARDEN_MAX_DETAIL_FETCHES_PER_RUN": "0",
		"PDPP_GARDEN_MAX_RUN_WALL_CLOCK_MS": "much"}
	if pace, details, wall := b.child(id, laxer); pace != "1000" || details != "40" || wall != "90000" {
		t.Errorf("beside a laxer word it got %q, %q, %q", pace, details, wall)
	}
	d, err := b.Connection(b.ctx(), id)
	b.requireNoError(err)
	if d.Limits.CeilingPerMinute != 60 || d.Limits.MaxDetails != 40 ||
		fmt.Sprint(d.Limits.Supports) != "[ceiling_per_minute max_run_seconds max_detail_fetches]" {
		t.Errorf("limits %+v", d.Limits)
	}
	b.requireNoError(b.SetLimits(b.ctx(), id, api.Limits{}))
	if pace, details, wall := b.child(id, nil); pace+details+wall != "" {
		t.Errorf("after the limits it got %q, %q, %q", pace, details, wall)
	}
}

// A ceiling never makes a run faster than the connector's own interval, as reported by a run.
func TestCeilingOnlySlowsDown(t *testing.T) {
	t.Parallel()
	b := newServiceHarness(t)
	id := b.connect("trowel").ID
	l := b.begin(id, "run_a")
	b.requireNoError(b.Store.FinishRun(b.ctx(), l,
		store.RunOutcome{Status: store.RunSucceeded, Event: slice.Event{Type: "run.completed", Data: jsontext.Value(
			`{"collection_rate":{"object":"collection_rate","current_interval_ms":2500,"ceiling_interval_ms":2000,` +
				`"effective_rate_per_min":24,"ceiling_rate_per_min":30,"last_backoff":null}}`)}}, b.at))
	wantError(t, b.SetLimits(b.ctx(), id, api.Limits{CeilingPerMinute: 31}), api.CodeInvalid, limitCeiling)
	b.requireNoError(b.SetLimits(b.ctx(), id, api.Limits{CeilingPerMinute: 30}))
	b.requireNoError(b.SetLimits(b.ctx(), id, api.Limits{CeilingPerMinute: 12}))
	// it is remembered
	wantError(t, b.SetLimits(b.ctx(), id, api.Limits{CeilingPerMinute: 31}), api.CodeInvalid, limitCeiling)
	if pace, _, _ := b.child(id, nil); pace != "5000" {
		t.Errorf("it got %q", pace)
	}
}

func TestLimitsAreChecked(t *testing.T) {
	t.Parallel()
	b := newServiceHarness(t)
	garden := b.connect("trowel").ID
	letters, err := b.Connect(b.ctx(), api.Connect{ConnectorID: "letters"})
	b.requireNoError(err)
	for _, c := range []struct {
		id, param string
		given     api.Limits
	}{
		{garden, limitCeiling, api.Limits{CeilingPerMinute: -1}},
		{garden, limitCeiling, api.Limits{CeilingPerMinute: fastestCeiling + 1}},
		{garden, limitSeconds, api.Limits{MaxSeconds: -5}},
		{garden, limitDetails, api.Limits{MaxDetails: mostDetails + 1}},
		{letters.ID, limitCeiling, api.Limits{CeilingPerMinute: 60}},
	} {
		wantError(t, b.SetLimits(b.ctx(), c.id, c.given), api.CodeInvalid, c.param)
	}
}
