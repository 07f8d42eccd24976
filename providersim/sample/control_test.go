package sample_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/sample"
)

func TestControlPort(t *testing.T) {
	t.Parallel()
	srv, err := sample.Start(sample.Config{Seed: 21, Events: 4, Notes: 8, Threads: 5})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
	})
	control, ctx := srv.Control(), t.Context()
	c := client{srv.Sim, http.DefaultClient.Do, srv.BaseURL, srv.Sim.Token()}

	wantCounts := map[string]int{"events": 7, "notes": 10, "threads": 5}
	for _, m := range []providersim.Mutation{
		{Op: "append_events", N: 3}, {Op: "add_notes", N: 2}, {Op: "edit_notes", N: 3}, {Op: "delete_notes", N: 2},
		{Op: "add_threads", N: 1}, {Op: "touch_threads", N: 2}, {Op: "delete_thread", ID: "thr_00000002"},
	} {
		before := srv.Sim.Now()
		done, err := control.Mutate(ctx, m)
		if err != nil {
			t.Fatalf("%+v: %v", m, err)
		}
		if len(done.IDs) != max(1, m.N) || !done.Now.After(before) || !done.Now.Equal(srv.Sim.Now()) {
			t.Errorf("%+v: %+v, before %v", m, done, before)
		}
	}
	truth, err := control.Truth(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for stream, want := range wantCounts {
		if got := len(truth[stream]); got != want {
			t.Errorf("%d %s, want %d", got, stream, want)
		}
	}
	if diff := cmp.Diff(srv.Sim.Truth(), truth); diff != "" {
		t.Errorf("truth over the wire differs:\n%s", diff)
	}
	for _, m := range []providersim.Mutation{{Op: "edit_notes"}, {Op: "edit_notes", N: -1}, {Op: "shred", N: 1},
		{Op: "delete_thread", ID: "thr_00000002"}} {
		if _, err := control.Mutate(ctx, m); err == nil {
			t.Errorf("accepted %+v", m)
		}
	}

	first, err := control.AddFault(ctx, providersim.Fault{Kind: providersim.Throttle, Path: "/v1/events",
		RetryAfter: providersim.RetrySeconds, Seconds: 3600})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := control.AddFault(ctx, providersim.Fault{Kind: providersim.WrongType, Path: "/v1/notes"}); err != nil {
		t.Fatal(err)
	}
	if faults, err := control.Faults(ctx); err != nil || len(faults) != 2 || faults[0].ID != first {
		t.Errorf("faults %+v, %v", faults, err)
	}
	if status, code := c.refusal(t, "GET", "/v1/events", "Bearer "+c.token); status != 429 || code != "rate_limited" {
		t.Errorf("throttled: %d %s", status, code)
	}
	var damaged struct{ Notes []map[string]any }
	c.get(t, "/v1/notes/changes", limit(2), &damaged)
	if _, isNumber := damaged.Notes[0]["id"].(float64); !isNumber {
		t.Errorf("id is %v, want a number", damaged.Notes[0]["id"])
	}
	if err := control.RemoveFault(ctx, first); err != nil {
		t.Fatal(err)
	}
	c.get(t, "/v1/events", nil, &struct{}{})
	if err := control.ClearFaults(ctx); err != nil {
		t.Fatal(err)
	}
	if changes := c.changes(t, "", 1); key(t, changes.Notes[0]) == "" {
		t.Error("still damaged after clearing")
	}
	if err := control.RemoveFault(ctx, first); err == nil || !strings.Contains(err.Error(), "no fault") {
		t.Errorf("removing an unknown fault: %v", err)
	}

	stats, err := control.Stats(ctx)
	if err != nil || stats.Requests != 4 || stats.Throttled != 1 || stats.WhileLimited != 1 ||
		stats.ByPattern["GET /v1/events"] != 2 {
		t.Errorf("stats %+v, %v", stats, err)
	}
	log, err := control.Requests(ctx)
	if err != nil || len(log) != 4 || log[0].Credential != "token-1" || log[0].Status != 429 {
		t.Errorf("requests %+v, %v", log, err)
	}
	if err := control.ResetStats(ctx); err != nil {
		t.Fatal(err)
	}
	if stats, err := control.Stats(ctx); err != nil || stats.Requests != 0 {
		t.Errorf("after a reset: %+v, %v", stats, err)
	}

	now, err := control.ChangeToken(ctx, providersim.TokenChange{Action: "rotate", Token: "fresh"})
	if err != nil || now.Token != "fresh" || now.State != providersim.TokenActive || len(now.Scopes) != 3 {
		t.Errorf("rotated: %+v, %v", now, err)
	}
	if status, code := c.refusal(t, "GET", "/v1/events", "Bearer "+c.token); status != 401 || code != "token_revoked" {
		t.Errorf("old token: %d %s", status, code)
	}
	if _, err := control.ChangeToken(ctx, providersim.TokenChange{Action: "lose"}); err == nil {
		t.Error("accepted an unknown token action")
	}

	resp, err := http.Post(srv.ControlURL+"/faults", "application/json",
		strings.NewReader(`{"kind":"throttle","retry":3}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusBadRequest {
		t.Errorf("a misspelt field answers %d", resp.StatusCode)
	}
}

func TestEqualConfigurationsAreEqual(t *testing.T) {
	t.Parallel()
	grow := func(seed uint64) providersim.Truth {
		sim := sample.New(sample.Config{Seed: seed, Events: 50, Notes: 50, Threads: 20})
		sim.EditNotes(5)
		sim.TouchThreads(4)
		sim.DeleteNotes(3)
		return sim.Truth()
	}
	if diff := cmp.Diff(grow(5), grow(5)); diff != "" {
		t.Errorf("equal seeds differ:\n%s", diff)
	}
	if cmp.Equal(grow(5), grow(6)) {
		t.Error("different seeds agree")
	}
}

func TestTextIsAwkward(t *testing.T) {
	t.Parallel()
	sim := sample.New(sample.Config{Seed: 1, Notes: 400})
	var all []byte
	longest := 0
	for _, item := range sim.Truth()[sample.StreamNotes] {
		if !json.Valid(item.Data) {
			t.Fatalf("not JSON: %s", item.Data)
		}
		longest = max(longest, len(item.Data))
		all = append(all, item.Data...)
	}
	for _, want := range []string{"\u2028", "\u2029", `\"`, `\\`, `\u000a`, "🪴", "👩🏽‍🔬", "ש", "雨", "e\u0301", "<b>"} {
		if !bytes.Contains(all, []byte(want)) {
			t.Errorf("no note holds %q", want)
		}
	}
	if longest < 10_000 {
		t.Errorf("longest note has %d bytes", longest)
	}
}

func TestManyEventsAreCheap(t *testing.T) {
	t.Parallel()
	c := setup(t, sample.Config{Seed: 1, Events: 200_000, Start: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)})
	p := eventsPage{More: true}
	for range 20 {
		if p = c.events(t, p.Next, 200); len(p.Events) != 200 || !p.More {
			t.Fatalf("page of %d events, more %v", len(p.Events), p.More)
		}
	}
	if got := key(t, p.Events[199]); got != "evt_00004000" {
		t.Errorf("twenty pages end at %s", got)
	}
	if last := c.sim.AppendEvents(1)[0]; last != "evt_00200001" {
		t.Errorf("appended %s", last)
	}
}
