package routes_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// alike compares the results and errors of a direct call with those of a call through the routes.
func alike[T any](h *house, what string, ask func(o api.Owner) (T, error)) T {
	h.t.Helper()
	want, directly := ask(h.direct)
	got, remotely := ask(h.client)
	if diff := cmp.Diff(want, got, equal); diff != "" {
		h.t.Errorf("%s (-direct +client):\n%s", what, diff)
	}
	var a, b *api.Error
	if errors.As(directly, &a) != errors.As(remotely, &b) || (directly == nil) != (remotely == nil) {
		h.t.Errorf("%s: directly %v, by the client %v", what, directly, remotely)
	} else if a != nil && (a.Status != b.Status || a.Code != b.Code || a.Message != b.Message || a.Next != b.Next ||
		a.Param != b.Param) {
		h.t.Errorf("%s: directly %+v, by the client %+v", what, a, b)
	}
	return got
}

// The real service and a real store: whatever the owner does through the routes is
// done, and whatever is seen there is what is seen here.
func TestTheHouseFromOutside(t *testing.T) {
	h := newHouse(t)
	ctx := t.Context()
	good, err := h.client.Connect(ctx, api.Connect{ConnectorID: "orchard", DisplayName: "Orchard of Ada",
		Fields: map[string]string{"token": "ladder"}})
	h.must(err)
	bad, err := h.client.Connect(ctx, api.Connect{ConnectorID: "orchard", Fields: map[string]string{"token": "rake"}})
	h.must(err)
	if first, second := h.run(good.ID), h.run(bad.ID); first != "succeeded" || second != "failed" {
		t.Fatalf("runs ended as %s and %s", first, second)
	}
	h.must(h.client.Rename(ctx, bad.ID, "Orchard of Bo"))
	h.must(h.client.SetSchedule(ctx, good.ID, api.Schedule{IntervalSeconds: 10800, Enabled: true}))
	h.must(h.client.SetLimits(ctx, good.ID, api.Limits{CeilingPerMinute: 30}))
	h.must(h.client.SetQuietHours(ctx, "22:00-07:00 Europe/Berlin"))
	_, _, err = h.client.CreateToken(ctx, api.NewToken{Label: "laptop"})
	h.must(err)
	grant, token, err := h.client.CreateGrant(ctx, api.NewGrant{ClientName: "Recipe box", Purpose: "Plan jam.",
		Mode:    "continuous",
		Streams: []api.GrantStream{{ConnectionID: good.ID, Stream: "trees", Fields: []string{"name"}}}})
	h.must(err)
	if token == "" {
		t.Error("the grant has no token")
	}
	search, err := h.client.SaveSearch(ctx, api.NewSearch{Name: "Pears", Address: "/search?q=pear"})
	h.must(err)
	h.must(h.client.RenameSearch(ctx, search.ID, "Pear trees"))
	target, err := h.client.AddPushTarget(ctx,
		api.NewPushTarget{Kind: "webhook", Label: "Hook", Endpoint: "https://hook.lantern.example/pdpp"})
	h.must(err)

	h.lookAround(good.ID, bad.ID, grant.ID)

	h.must(h.client.Run(ctx, good.ID))
	h.must(h.client.SetCredential(ctx, bad.ID, map[string]string{"token": "ladder"}))
	if status := h.run(bad.ID); status != "succeeded" {
		t.Errorf("with the fixed credential the run ended as %s", status)
	}
	h.must(h.client.RevokeGrant(ctx, grant.ID))
	h.must(h.client.DeleteSearch(ctx, search.ID))
	h.must(h.client.DeletePushTarget(ctx, target.ID))
	h.must(h.client.DeleteSchedule(ctx, good.ID))
	h.must(h.client.Revoke(ctx, bad.ID))
	h.lookAround(good.ID, bad.ID, grant.ID)
	if seen, err := h.direct.Overview(ctx); err != nil || len(seen.Connections) != 1 {
		t.Errorf("after the end of one: %d connections, %v", len(seen.Connections), err)
	}
}

// lookAround asks every question that there is, of what is there and of what is not.
func (h *house) lookAround(good, bad, grant string) {
	h.t.Helper()
	ctx := h.t.Context()
	type O = api.Owner
	alike(h, "overview", func(o O) (any, error) { return o.Overview(ctx) })
	alike(h, "connectors", func(o O) (any, error) { return o.Connectors(ctx) })
	alike(h, "devices", func(o O) (any, error) { return o.Devices(ctx) })
	for _, id := range []string{good, bad, "cin_none"} {
		alike(h, "connection "+id, func(o O) (any, error) { return o.Connection(ctx, id) })
		alike(h, "why "+id, func(o O) (any, error) { return o.Why(ctx, id) })
		alike(h, "pace "+id, func(o O) (any, error) { return o.Pace(ctx, id, 3) })
		alike(h, "missing "+id, func(o O) (any, error) { return o.Gaps(ctx, api.GapQuery{ConnectionID: id}) })
		alike(h, "bookmarks "+id, func(o O) (any, error) { return o.Bookmarks(ctx, id) })
		alike(h, "streams "+id, func(o O) (any, error) { return o.Streams(ctx, id) })
		alike(h, "runs "+id, func(o O) (any, error) { return o.Runs(ctx, api.RunQuery{ConnectionID: id, Limit: 5}) })
	}
	alike(h, "streams", func(o O) (any, error) { return o.Streams(ctx, "") })
	for _, run := range append(alike(h, "runs", func(o O) ([]api.Run, error) { return o.Runs(ctx, api.RunQuery{}) }),
		api.Run{ID: "run_none"}) {
		alike(h, "run "+run.ID, func(o O) (any, error) { return o.RunByID(ctx, run.ID) })
		alike(h, "timeline "+run.ID, func(o O) (any, error) { return o.Timeline(ctx, run.ID, 1) })
		alike(h, "question "+run.ID, func(o O) (any, error) { return o.Question(ctx, run.ID) })
		alike(h, "cancel "+run.ID, func(o O) (any, error) { return nil, o.Cancel(ctx, run.ID) })
		alike(h, "answer "+run.ID, func(o O) (any, error) {
			return nil, o.Answer(ctx, run.ID, api.Answer{RequestID: "q", Status: "cancelled"})
		})
	}
	h.readAround(good)
	alike(h, "grants", func(o O) (any, error) { return o.Grants(ctx) })
	for _, id := range []string{grant, "grant_none"} {
		alike(h, "grant "+id, func(o O) (any, error) { return o.Grant(ctx, id) })
	}
	alike(h, "request", func(o O) (any, error) { return o.GrantRequest(ctx, "req_none") })
	alike(h, "decide", func(o O) (any, error) { return o.Decide(ctx, "req_none", api.Decision{Approve: true}) })
	alike(h, "tokens", func(o O) (any, error) { return o.Tokens(ctx) })
	alike(h, "deletions", func(o O) (any, error) { return o.Deletions(ctx) })
	alike(h, "ended connections", func(o O) (any, error) { return o.EndedConnections(ctx) })
	alike(h, "searches", func(o O) (any, error) { return o.SavedSearches(ctx) })
	alike(h, "push targets", func(o O) (any, error) { return o.PushTargets(ctx) })
	alike(h, "quiet hours", func(o O) (any, error) { return o.QuietHours(ctx) })
	alike(h, "runtime", func(o O) (any, error) { return o.Runtime(ctx) })
	alike(h, "too often", func(o O) (any, error) {
		return nil, o.SetSchedule(ctx, good, api.Schedule{IntervalSeconds: 1, Enabled: true})
	})
	alike(h, "incomplete", func(o O) (any, error) { return o.Connect(ctx, api.Connect{ConnectorID: "orchard"}) })
	for _, path := range []string{
		"/_ref/connectors", "/_ref/connectors/" + good, "/_ref/fleet-health", "/_ref/schedules", "/_ref/web-push/config",
		"/v1/owner/connections", "/v1/owner/connections/" + bad + "/diagnostics",
	} {
		if status, answer := exchange(h.t, h.direct, "GET", path, ""); status != 200 {
			h.t.Errorf("%s: %d %v", path, status, answer)
		}
	}
}

// readAround reads what was collected, page by page and as a whole.
func (h *house) readAround(id string) {
	h.t.Helper()
	ctx := h.t.Context()
	type O = api.Owner
	q := api.RecordQuery{ConnectionID: id, Stream: "trees", Limit: 1, Oldest: true}
	first, err := h.client.Records(ctx, q)
	h.must(err)
	if len(first.Records) != 1 || first.Next == "" {
		h.t.Fatalf("first page %+v", first)
	}
	q.Cursor = first.Next // both accept a cursor of either one
	alike(h, "second page", func(o O) (any, error) { return o.Records(ctx, q) })
	q.Cursor += "x"
	alike(h, "spoilt cursor", func(o O) (any, error) { return o.Records(ctx, q) })
	alike(h, "filtered", func(o O) (any, error) {
		return o.Records(ctx, api.RecordQuery{ConnectionID: id, Stream: "trees", Where: map[string]string{"kind": "plum"}})
	})
	alike(h, "filter that is none", func(o O) (any, error) {
		return o.Records(ctx, api.RecordQuery{ConnectionID: id, Stream: "trees", Where: map[string]string{"name": "x"}})
	})
	alike(h, "search", func(o O) (any, error) { return o.Search(ctx, api.SearchQuery{Text: "plum"}) })
	for _, key := range []string{"/", "t/2", "none"} {
		alike(h, "record "+key, func(o O) (any, error) {
			newest, versions, err := o.Record(ctx, id, "trees", key)
			return append([]api.Record{newest}, versions...), err
		})
	}
	for _, format := range []string{"jsonl", "csv"} {
		whole := alike(h, "export as "+format, func(o O) (string, error) {
			var out bytes.Buffer
			err := o.Export(ctx, &out, api.ExportQuery{ConnectionID: id, Stream: "trees", Format: format})
			return out.String(), err
		})
		if !bytes.Contains([]byte(whole), []byte("plum")) {
			h.t.Errorf("export as %s: %q", format, whole)
		}
	}
}
