package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/share/mcp"
	"github.com/pdpp-go/pdpp/internal/share/readapi"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/audit"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres/postgrestest"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
)

var noon = time.Date(2026, 4, 1, 12, 0, 0, 0, time.UTC)

// purse is a connector. Its bookings can be filtered, compared and summed up, and its notes can be searched.
const purse = `{
 "protocol_version":"0.1.0","connector_id":"purse","version":"1.0.0","display_name":"Purse",
 "capabilities":{"refresh_policy":{"recommended_mode":"automatic","rationale":"Reads what is new.",` +
	`"recommended_interval_seconds":3600,"minimum_interval_seconds":300,"maximum_staleness_seconds":86400,` +
	`"interaction_posture":"none","background_safe":true}},
 "streams":[
  {"name":"bookings","description":"What was paid.","semantics":"append_only","primary_key":"id",
   "consent_time_field":"booked_at","cursor_field":"booked_at",
   "schema":{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"payee":{"type":"string"},` +
	`"amount":{"type":"number"},"secret":{"type":"string"},"booked_at":{"type":"string","format":"date-time"}}},
   "query":{"search":["payee"],"filter":["payee","secret"],"range_filters":{"booked_at":["gte","lt"]},
    "aggregations":{"count":true,"sum":["amount"],"group_by":["payee","secret"],"group_by_time":["booked_at"]}}},
  {"name":"notes","description":"Long texts.","semantics":"mutable_state","primary_key":"id",
   "schema":{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"text":{"type":"string"},` +
	`"hidden":{"type":"string"}}},
   "query":{"search":["text","hidden"]}}]}`

// world is a server with one account and the handler of assistants beside its routes.
type world struct {
	t       testing.TB
	store   store.Store
	grants  *grants.Service
	routes  http.Handler
	address string
	lease   store.Lease
	now     atomic.Int64 // nanoseconds after noon
	isOwner func(*http.Request) (bool, error)
	owner   *ownerFacts
}

// ownerFacts are what the owner knows in these tests.
type ownerFacts struct{ calls atomic.Int64 }

func (o *ownerFacts) Missing(context.Context, string) ([]mcp.Missing, error) {
	o.calls.Add(1)
	lost := int64(3)
	return []mcp.Missing{{Connection: "mine", Name: "My purse", State: "Needs you", Missing: &lost,
		Reason: "3 bookings could not be read."}}, nil
}

func (o *ownerFacts) Versions(context.Context, string, string, string) ([]mcp.Version, error) {
	return []mcp.Version{{At: "2026-03-01T00:00:00Z", Data: map[string]any{"payee": "Old Harbour"}}}, nil
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func inSQLite(t testing.TB) store.Store {
	t.Helper()
	kept, err := sqlite.Open(context.Background(), sqlitetest.NewDatabase(t, filepath.Join(t.TempDir(), "pdpp.db")),
		sqlite.Options{})
	check(t, err)
	t.Cleanup(func() { kept.Close() })
	return kept
}

func inPostgres(t testing.TB) store.Store {
	t.Helper()
	kept, err := postgres.Open(context.Background(), postgrestest.NewDatabase(t), postgres.Options{})
	check(t, err)
	t.Cleanup(func() { kept.Close() })
	return kept
}

// onBoth runs a test over each database.
func onBoth(t *testing.T, test func(t *testing.T, w *world)) {
	t.Run("sqlite", func(t *testing.T) { test(t, newWorld(t, inSQLite(t))) })
	t.Run("postgres", func(t *testing.T) { test(t, newWorld(t, inPostgres(t))) })
}

const ownerToken = "an owner's token"

func newWorld(t testing.TB, kept store.Store) *world {
	t.Helper()
	w := &world{t: t, store: kept, owner: &ownerFacts{}}
	clock := func() time.Time { return noon.Add(time.Duration(w.now.Load())) }
	w.grants = grants.NewService(kept, "https://home.example", clock)
	cursors, err := grants.NewCursors(t.Context(), kept, noon)
	check(t, err)
	w.isOwner = func(r *http.Request) (bool, error) { return r.Header.Get("Authorization") == "Bearer "+ownerToken, nil }
	read := readapi.New(readapi.Config{Grants: w.grants, Cursors: cursors, Store: kept, IsOwner: w.isOwner, Now: clock,
		Audit: audit.New(audit.Config{Store: kept, Now: clock})})
	mux := http.NewServeMux()
	for _, route := range read.Routes() {
		mux.HandleFunc(route.Pattern, route.Handle)
	}
	w.routes = mux
	tools := http.NewServeMux()
	for _, route := range read.AssistantRoutes() {
		tools.HandleFunc(route.Pattern, route.Handle)
	}
	all := http.NewServeMux()
	all.Handle("/v1/", mux)
	all.Handle(mcp.Path, mcp.Handler(mcp.HTTPConfig{Routes: tools, Owner: w.owner, Version: "test",
		Admit: func(r *http.Request) (bool, error) {
			who, err := read.Admit(r)
			return err == nil && who.Grant() == nil, err
		},
		Refuse: func(rw http.ResponseWriter, r *http.Request, err error) {
			read.Refuse(rw, r, err, "https://home.example"+mcp.MetadataPath)
		}}))
	server := httptest.NewServer(all)
	t.Cleanup(server.Close)
	w.address = server.URL
	_, err = kept.PutManifest(t.Context(), "purse", []byte(purse), noon)
	check(t, err)
	check(t, kept.CreateConnection(t.Context(), store.Connection{ID: "mine", ConnectorID: "purse",
		DisplayName: "My purse", Status: store.ConnectionActive, SourceKind: store.SourceAccount, ManifestGeneration: 1,
		CreatedAt: noon, UpdatedAt: noon}))
	w.lease, err = kept.StartRun(t.Context(), store.RunStart{RunID: "run_mine", ConnectionID: "mine",
		ConnectorID: "purse", Trigger: store.TriggerManual, Holder: "test", TTL: time.Hour, Streams: []store.StreamSpec{
			{Name: "bookings", SearchFields: []string{"payee"}, TimeField: "booked_at"},
			{Name: "notes", SearchFields: []string{"text", "hidden"}}}}, noon)
	check(t, err)
	return w
}

func booking(key, payee, amount, secret string, booked time.Time) slice.Record {
	return slice.Record{Stream: "bookings", Key: key, EmittedAt: "2026-04-01T12:00:00Z",
		SemanticTime: booked.Format("2006-01-02T15:04:05.000000Z"),
		Data: fmt.Appendf(nil, `{"id":%q,"payee":%q,"amount":%s,"secret":%q,"booked_at":%q}`, key, payee, amount, secret,
			booked.Format(time.RFC3339))}
}

func note(key, text, hidden string) slice.Record {
	data, _ := json.Marshal(map[string]string{"id": key, "text": text, "hidden": hidden})
	return slice.Record{Stream: "notes", Key: key, EmittedAt: "2026-04-01T12:00:00Z", Data: data}
}

func (w *world) put(records ...slice.Record) {
	w.t.Helper()
	_, err := w.store.CommitSlice(w.t.Context(), w.lease, slice.Slice{Records: records}, noon)
	check(w.t, err)
}

// furnish adds bookings at two shops.
func (w *world) furnish() {
	w.put(booking("b1", "Harbour", "12.50", "zebra", day(2, 3)), booking("b2", "Harbour", "7.25", "quokka", day(3, 5)),
		booking("b3", "Lantern", "3", "ibex", day(3, 9)), note("n1", strings.Repeat("pear tree ", 2000), "okapi"))
}

func day(month time.Month, day int) time.Time {
	return time.Date(2026, month, day, 9, 0, 0, 0, time.UTC)
}

func (w *world) grant(scope ...grants.Stream) (id, token string) {
	w.t.Helper()
	g, token, err := w.grants.Create(w.t.Context(), grants.New{ClientName: "Assistant", Purpose: "answers",
		Scope: scope})
	check(w.t, err)
	return g.ID, token
}

var bookings = grants.Stream{ConnectionID: "mine", Stream: "bookings"}

// Revisions of the protocol: the last with a handshake, and the one without.
const (
	handshake = "2025-11-25"
	stateless = "2026-07-28"
)

// bearer sends a token with every request.
type bearer struct{ token string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return http.DefaultTransport.RoundTrip(r)
}

// connect connects the official client over HTTP.
func (w *world) connect(token, revision string) *sdk.ClientSession {
	w.t.Helper()
	return dial(w.t, &sdk.StreamableClientTransport{Endpoint: w.address + mcp.Path, MaxRetries: -1,
		HTTPClient: &http.Client{Transport: bearer{token}}, DisableStandaloneSSE: true}, revision)
}

func dial(t testing.TB, transport sdk.Transport, revision string) *sdk.ClientSession {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), transport, &sdk.ClientSessionOptions{ProtocolVersion: revision})
	check(t, err)
	t.Cleanup(func() { session.Close() })
	if got := session.InitializeResult().ProtocolVersion; got != revision {
		t.Fatalf("the server speaks %s, want %s", got, revision)
	}
	return session
}

// toolResult is what a tool answered.
type toolResult struct {
	failed   bool
	sentence string
	whole    string // everything that was sent
	data     map[string]any
}

func call(t testing.TB, s *sdk.ClientSession, name string, arguments map[string]any) toolResult {
	t.Helper()
	answer, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: arguments})
	check(t, err)
	body, err := json.Marshal(answer)
	check(t, err)
	out := toolResult{failed: answer.IsError, whole: string(body)}
	if text, ok := answer.Content[0].(*sdk.TextContent); ok {
		out.sentence = text.Text
	}
	if answer.StructuredContent != nil {
		structured, err := json.Marshal(answer.StructuredContent)
		check(t, err)
		check(t, json.Unmarshal(structured, &out.data))
	}
	return out
}

// ids returns the ids of the records of an answer.
func (r toolResult) ids() string {
	var ids []string
	for _, list := range []string{"records", "changes"} {
		all, _ := r.data[list].([]any)
		for _, one := range all {
			ids = append(ids, one.(map[string]any)["id"].(string))
		}
	}
	return strings.Join(ids, " ")
}
