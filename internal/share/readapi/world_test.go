package readapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/blob"
	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/share/readapi"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/audit"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres/postgrestest"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
	"github.com/pdpp-go/pdpp/internal/web/auth"
	"github.com/pdpp-go/pdpp/internal/web/reply"
	"github.com/pdpp-go/pdpp/protocol"
)

var noon = time.Date(2026, 4, 1, 12, 0, 0, 0, time.UTC)

// journal is a connector with a stream that has everything and one that has little.
const journal = `{
 "protocol_version":"0.1.0","connector_id":"journal","version":"1.0.0","display_name":"Journal",
 "capabilities":{"refresh_policy":{"recommended_mode":"automatic","rationale":"Reads what is new.",` +
	`"recommended_interval_seconds":3600,
  "minimum_interval_seconds":300,"maximum_staleness_seconds":86400,"interaction_posture":"none",` +
	`"background_safe":true}},
 "streams":[
  {"name":"notes","semantics":"mutable_state","primary_key":"id","consent_time_field":"written_at",` +
	`"cursor_field":"written_at",
   "schema":{"type":"object","required":["id","private"],"properties":{"id":{"type":"string"},` +
	`"title":{"type":"string"},"body":{"type":"string"},
    "private":{"type":"string"},"folder":{"type":"string"},"written_at":{"type":"string"}}},
   "query":{"search":["title","body"],"filter":["folder","private"]}},
  {"name":"letters","semantics":"mutable_state","primary_key":"id",
   "schema":{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"text":{"type":"string"}}},
   "query":{"search":["text"]}}]}`

// world is a server with two accounts at one source.
type world struct {
	t       testing.TB
	store   store.Store
	grants  *grants.Service
	auth    *auth.Auth
	address string
	now     atomic.Int64 // nanoseconds after noon
}

func (w *world) time() time.Time       { return noon.Add(time.Duration(w.now.Load())) }
func (w *world) after(d time.Duration) { w.now.Add(int64(d)) }
func (w *world) ctx() context.Context  { return context.Background() }
func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
func at(month time.Month, day int) time.Time {
	return time.Date(2026, month, day, 9, 0, 0, 0, time.UTC)
}

// opener makes an empty store that is closed when the test ends.
type opener func(t testing.TB) store.Store

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

// onBoth runs a test over each database: what holds in one could be open in the other.
func onBoth(t *testing.T, test func(t *testing.T, open opener)) {
	t.Run("sqlite", func(t *testing.T) { test(t, inSQLite) })
	t.Run("postgres", func(t *testing.T) { test(t, inPostgres) })
}

func newWorld(t testing.TB) *world {
	t.Helper()
	return newWorldOver(t, inSQLite(t))
}

// newWorldOver serves what a store holds.
func newWorldOver(t testing.TB, kept store.Store) *world {
	t.Helper()
	return newWorldWith(t, kept, nil)
}

// newWorldWith does so with files.
func newWorldWith(t testing.TB, kept store.Store, files blob.Storage) *world {
	t.Helper()
	w := &world{t: t, store: kept}
	w.grants = grants.NewService(kept, "https://home.example", w.time)
	w.auth = auth.New(auth.Config{Store: kept, Now: w.time})
	cursors, err := grants.NewCursors(w.ctx(), kept, noon)
	check(t, err)
	mux := http.NewServeMux()
	read := readapi.New(readapi.Config{Grants: w.grants, Cursors: cursors, Store: kept, Blobs: files,
		IsOwner: w.auth.IsOwner, Now: w.time, Poll: time.Millisecond,
		Log:   slog.New(slog.NewTextHandler(t.Output(), nil)),
		Audit: audit.New(audit.Config{Store: kept, Now: w.time})})
	for _, route := range read.Routes() {
		mux.HandleFunc(route.Pattern, route.Handle)
	}
	mux.Handle("/mcp", assistants(read, mux))
	mux.Handle("GET /_ref/connectors",
		w.auth.Owner(reply.ScopeRead,
			http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { io.WriteString(rw, "owner only") })))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	w.address = server.URL
	_, err = kept.PutManifest(w.ctx(), "journal", []byte(journal), noon)
	check(t, err)
	return w
}

// connect adds an account and returns the lease of its first run.
func (w *world) connect(id string) store.Lease {
	w.t.Helper()
	check(w.t, w.store.CreateConnection(w.ctx(), store.Connection{
		ID: id, ConnectorID: "journal", DisplayName: "Journal of " + id, Status: store.ConnectionActive,
		SourceKind:         store.SourceAccount,
		ManifestGeneration: 1, CreatedAt: noon, UpdatedAt: noon,
	}))
	l, err := w.store.StartRun(w.ctx(), store.RunStart{
		RunID: "run_" + id, ConnectionID: id, ConnectorID: "journal", Trigger: store.TriggerManual, Holder: "test",
		TTL: time.Hour,
		Streams: []store.StreamSpec{{Name: "notes", SearchFields: []string{"title", "body"}, TimeField: "written_at"},
			{Name: "letters", SearchFields: []string{"text"}}},
	}, noon)
	check(w.t, err)
	return l
}

func (w *world) put(l store.Lease, records ...slice.Record) {
	w.t.Helper()
	_, err := w.store.CommitSlice(w.ctx(), l, slice.Slice{Records: records}, w.time())
	check(w.t, err)
}

func note(key string, written time.Time, title, body, private, folder string) slice.Record {
	data, _ := json.Marshal(map[string]string{"id": key, "title": title, "body": body, "private": private,
		"folder": folder, "written_at": written.Format(time.RFC3339)})
	return slice.Record{Stream: "notes", Key: key, Data: data, EmittedAt: "2026-04-01T12:00:00Z",
		SemanticTime: written.Format("2006-01-02T15:04:05.000000Z")}
}

func letter(key, text string) slice.Record {
	return slice.Record{Stream: "letters", Key: key, Data: fmt.Appendf(nil, `{"id":%q,"text":%q}`, key, text),
		EmittedAt: "2026-04-01T12:00:00Z"}
}

func gone(stream, key string) slice.Record {
	return slice.Record{Stream: stream, Key: key, Op: protocol.OpDelete, EmittedAt: "2026-04-01T12:30:00Z"}
}

// furnish fills two accounts. Every record has a word of its own in each field.
func (w *world) furnish() (mine, other store.Lease) {
	mine, other = w.connect("mine"), w.connect("other")
	w.put(mine,
		note("n1", at(1, 10), "garden plan", "plant pears", "zebra", "home"),
		note("n2", at(2, 10), "coast walk", "bring boots", "quokka", "away"),
		note("n3", at(3, 10), "narwhal sighting", "cold morning", "ibex", "away"),
		note("n4", at(2, 15), "ferry times", "leaves early", "lemur", "away"),
		note("n5", at(3, 20), "tapir visit", "warm evening", "okapi", "away"),
		letter("l1", "axolotl greetings"))
	w.put(mine, gone("notes", "n4"), gone("notes", "n5"))
	w.put(other, note("m1", at(2, 12), "pangolin notes", "other account", "dugong", "away"))
	return mine, other
}

// grant returns the token of a grant.
func (w *world) grant(mode store.GrantMode, scope ...grants.Stream) string {
	w.t.Helper()
	_, token, err := w.grants.Create(w.ctx(), grants.New{ClientName: "Reader", Purpose: "reading", Mode: mode,
		Scope: scope})
	check(w.t, err)
	return token
}

type answer struct {
	status int
	header http.Header
	body   string
}

// code is that of the error envelope.
func (a answer) code() string {
	var e struct{ Error struct{ Code string } }
	_ = json.Unmarshal([]byte(a.body), &e)
	return e.Error.Code
}

// page is a list of records or changes.
type page struct {
	Data []struct {
		Connection string `json:"connection_id"`
		Stream     string
		ID         string
		Deleted    bool
		Data       map[string]any
	}
	HasMore bool   `json:"has_more"`
	Next    string `json:"next_cursor"`
	Since   string `json:"next_changes_since"`
}

func (a answer) page(t testing.TB) page {
	t.Helper()
	var p page
	if a.status != http.StatusOK {
		t.Fatalf("answered %d: %s", a.status, a.body)
	}
	check(t, json.Unmarshal([]byte(a.body), &p))
	return p
}

func (p page) ids() string {
	var ids []string
	for _, r := range p.Data {
		id := r.ID
		if r.Deleted {
			id = "-" + id
		}
		ids = append(ids, id)
	}
	return strings.Join(ids, " ")
}

// ask reads a path with a whole Authorization header; empty sends none.
func (w *world) askWith(authorization, path string) answer {
	w.t.Helper()
	req, err := http.NewRequest(http.MethodGet, w.address+path, nil)
	check(w.t, err)
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	return w.send(req)
}

func (w *world) send(req *http.Request) answer {
	w.t.Helper()
	res, err := http.DefaultClient.Do(req)
	check(w.t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	check(w.t, err)
	return answer{res.StatusCode, res.Header, string(body)}
}

func (w *world) ask(token, path string) answer { w.t.Helper(); return w.askWith("Bearer "+token, path) }

func (w *world) owner() string {
	w.t.Helper()
	_, token, err := w.auth.CreateToken(w.ctx(), auth.NewToken{Label: "test"})
	check(w.t, err)
	return token
}

func ptr[T any](v T) *T { return &v }
