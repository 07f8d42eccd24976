package connectortest

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
	"github.com/pdpp-go/pdpp/providersim"
)

// paceIsKept shows what a run learns of its provider's pace: the store has it on
// bookmarks of declared streams, the next run begins with it and not with the cold
// interval, and the rate that is stored with the run holds only numbers and a reason.
func paceIsKept(t *testing.T, b *Harness) {
	b.Sim.AddFault(t, providersim.Fault{Kind: providersim.Throttle, Path: "/", Skip: 3, Count: 1,
		RetryAfter: providersim.RetrySeconds, Seconds: 1})
	first := b.Succeed(t)
	events, err := b.Store.RunEvents(t.Context(), first.RunID, 0, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	rates, backedOff := 0, false
	for _, e := range events {
		var data struct {
			Rate json.RawMessage `json:"collection_rate"`
		}
		if err := json.Unmarshal(e.Data, &data); err != nil || data.Rate == nil {
			continue
		}
		rates++
		var members map[string]json.RawMessage
		var collectionRate protocol.CollectionRate
		if err := json.Unmarshal(data.Rate, &members); err != nil || json.Unmarshal(data.Rate, &collectionRate) != nil {
			t.Fatalf("the stored rate is %s: %v", data.Rate, err)
		}
		if collectionRate.CurrentIntervalMS <= 0 || collectionRate.CeilingIntervalMS <= 0 ||
			collectionRate.EffectiveRatePerMin <= 0 ||
			collectionRate.CeilingRatePerMin <= 0 {
			t.Errorf("the stored rate is %s", data.Rate)
		}
		backedOff = backedOff || collectionRate.LastBackoff != nil && collectionRate.LastBackoff.Reason != ""
		for name := range members {
			if !slices.Contains([]string{"object", "current_interval_ms", "ceiling_interval_ms", "effective_rate_per_min",
				"ceiling_rate_per_min", "last_backoff"}, name) {
				t.Errorf("the stored rate has a member %s: %s", name, data.Rate)
			}
		}
	}
	if rates == 0 || !backedOff {
		t.Errorf("%d rates are stored, one after a refusal: %v", rates, backedOff)
	}
	var declared []string
	for _, s := range b.Target.Connector.Manifest.Streams {
		declared = append(declared, s.Name)
	}
	learned := 0
	for stream, mark := range b.steadyBookmarks(t) {
		if !slices.Contains(declared, stream) {
			t.Errorf("a bookmark of %s, which is not declared", stream)
		}
		if stringContains(mark, `"pacing_interval_ms"`) {
			learned++
		}
	}
	if learned == 0 {
		t.Fatalf("no bookmark has the pace: %v", b.steadyBookmarks(t))
	}
	const cold = 2000 // far above what was learned
	b.setRunCap("_PACING_INITIAL_INTERVAL_MS", cold)
	for _, m := range b.Target.Changes {
		b.Sim.MutateData(t, m)
	}
	var mu sync.Mutex
	begins := 0.0
	second := b.Run(t, launch.RunRequest{Options: runner.Options{Observe: func(u runner.Update) {
		mu.Lock()
		defer mu.Unlock()
		if u.Rate != nil && begins == 0 {
			begins = u.Rate.CurrentIntervalMS
		}
	}}})
	if second.Status != runner.Succeeded || begins <= 0 || begins > cold/2 {
		t.Errorf("the next run ended as %s and began at %v ms; the cold interval is %d ms", second.Status, begins, cold)
	}
}

// watched is a store that hears of bookmarks as they are written.
type watched struct {
	store.Store
	wrote func(slice.Cursor)
}

func (w watched) CommitSlice(ctx context.Context, l store.Lease, s slice.Slice, now time.Time) (store.Committed,
	error) {
	done, err := w.Store.CommitSlice(ctx, l, s, now)
	if err == nil {
		for _, c := range s.Cursors {
			w.wrote(c)
		}
	}
	return done, err
}

// catchUpLeavesTheSteadyCursor shows the two bookmarks in the store: a connector that is
// killed within a window leaves it open, and while the next run walks it the steady one
// stays where it is.
func catchUpLeavesTheSteadyCursor(t *testing.T, b *Harness) {
	list := b.Target.Lane.List
	// Messages sent before the kill still count, so the connector must not be far ahead.
	b.setRunCap("_DETAIL_MAX_CONCURRENCY_PROBE", 1)
	b.Sim.AddFault(t, providersim.Fault{Kind: providersim.Latency, Path: b.Target.Lane.DetailPath, DelayMS: 40})
	real := b.Store
	var runID string
	var once sync.Once
	b.Store = watched{real, func(c slice.Cursor) {
		if c.Stream == list && c.Mode == protocol.CatchUp && c.Cursor.Kind() != 'n' {
			once.Do(func() { KillConnector(runID) })
		}
	}}
	killed := b.Run(t, launch.RunRequest{Started: func(id string) { runID = id }})
	if killed.Status != runner.Failed {
		t.Fatalf("the run ended as %s before it was killed", killed.Status)
	}
	before, closed := b.cursorsWithoutPace(t)[list], false
	for _, m := range b.Target.Changes {
		b.Sim.MutateData(t, m)
	}
	b.Store = watched{real, func(c slice.Cursor) {
		switch {
		case c.Stream != list:
		case c.Mode == protocol.CatchUp:
			closed = closed || c.Cursor.Kind() == 'n'
		case !closed && removePace(t, c.Cursor) != before:
			t.Errorf("the steady bookmark moved from %s to %s within the window", before, c.Cursor)
		}
	}}
	b.Succeed(t)
	b.Store = real
	if after := b.cursorsWithoutPace(t)[list]; !closed || after == before {
		t.Errorf("the window was closed: %v; the steady bookmark went from %s to %s", closed, before, after)
	}
}
