package deviceapi_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/device/wire"
	"github.com/pdpp-go/pdpp/internal/deviceapi"
	"github.com/pdpp-go/pdpp/internal/storage/audit"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres/postgrestest"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
	"github.com/pdpp-go/pdpp/internal/web/server"
	"github.com/pdpp-go/pdpp/manifest"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// bed is the routes of devices over a database of their own.
type bed struct {
	from    string // the address that requests come from; empty for that of httptest
	t       testing.TB
	store   store.Store
	handler http.Handler
	now     atomic.Pointer[time.Time]
	codes   int
	config  deviceapi.Config

	transcript *transcript
}

// onBoth runs a test with beds over each database, and reports how many requests were refused.
func onBoth(t *testing.T, test func(t *testing.T)) {
	for _, database := range []string{"sqlite", onPostgres} {
		t.Run(database, func(t *testing.T) {
			before := refusals.Load()
			test(t)
			if n := refusals.Load() - before; n > 0 {
				t.Attr("result", fmt.Sprintf("%d hostile requests, all refused", n))
			}
		})
	}
}

// onPostgres is the name of the subtests with beds over PostgreSQL.
const onPostgres = "postgres"

// refusals counts answers of 400 and more.
var refusals atomic.Int64

func openStore(t testing.TB) (store.Store, error) {
	if slices.Contains(strings.Split(t.Name(), "/"), onPostgres) {
		return postgres.Open(t.Context(), postgrestest.NewDatabase(t), postgres.Options{})
	}
	return sqlite.Open(t.Context(), sqlitetest.NewDatabase(t, filepath.Join(t.TempDir(), "pdpp.db")), sqlite.Options{})
}

func newBed(t testing.TB) *bed {
	t.Helper()
	tr := transcriptOf(t)
	st, err := openStore(t)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	t.Cleanup(func() { tr.addRows(t, st) })
	b := &bed{t: t, store: st, transcript: tr}
	b.now.Store(&noon)
	clock := func() time.Time { return *b.now.Load() }
	notes := catalog.Fixed(catalog.Connector{Name: "notes", Builtin: true,
		Manifest: &manifest.Manifest{ConnectorKey: "notes", DisplayName: "Notes", Streams: []manifest.Stream{
			{Name: "notes", Semantics: manifest.MutableState, PrimaryKey: []string{"id"}, ConsentTimeField: "at"},
			{Name: "log", Semantics: manifest.AppendOnly, PrimaryKey: []string{"id"}, ParentStreams: []string{"notes"}},
		}}})
	b.config = deviceapi.Config{Store: st, Connectors: notes, Audit: audit.New(audit.Config{Store: st, Now: clock}),
		Now: clock}
	b.mount()
	return b
}

// mount makes the routes of what is configured.
func (b *bed) mount() {
	b.handler = server.New(server.Config{OwnLimits: deviceapi.OwnLimits, Mount: func(mux *http.ServeMux) {
		for _, route := range deviceapi.Routes(b.config) {
			mux.Handle(route.Pattern, route.Handle)
		}
	}})
}

func (b *bed) pass(d time.Duration) {
	later := b.now.Load().Add(d)
	b.now.Store(&later)
}

// code makes a code of a quarter of an hour for a binding.
func (b *bed) code(binding, scope string) string {
	b.t.Helper()
	b.codes++
	code := fmt.Sprintf("lde_code%d", b.codes)
	hash := sha256.Sum256([]byte(code))
	err := b.store.CreateDeviceCode(b.t.Context(), store.DeviceCode{
		ID: fmt.Sprint("dcode_", b.codes), Hash: hash[:], ConnectorID: "notes", LocalBinding: binding,
		Status: store.CodePending, Scope: jsontext.Value(scope),
		CreatedAt: *b.now.Load(), ExpiresAt: b.now.Load().Add(15 * time.Minute),
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return code
}

// answer is what a request got.
type answer struct {
	status     int
	code       string
	body       string
	retryAfter string
}

// post sends a body with a token and the protocol version. The headers may override the version.
func (b *bed) post(path, token string, body any, headers ...string) answer {
	b.t.Helper()
	content, err := json.Marshal(body)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.send(http.MethodPost, path, token, content, headers...)
}

// sendFrom is post from another address.
func (b *bed) sendFrom(address, path, token string, body any) answer {
	b.t.Helper()
	b.from = address
	defer func() { b.from = "" }()
	return b.post(path, token, body)
}

// send sends a body as it is.
func (b *bed) send(method, path, token string, content []byte, headers ...string) answer {
	b.t.Helper()
	r := httptest.NewRequestWithContext(context.WithoutCancel(b.t.Context()), method, wire.Root+path,
		bytes.NewReader(content))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set(wire.ProtocolHeader, wire.ProtocolVersion)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for n := 0; n < len(headers); n += 2 {
		r.Header.Set(headers[n], headers[n+1])
	}
	if b.from != "" {
		r.RemoteAddr = b.from
	}
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, r)
	var problem struct {
		Error struct {
			Code      string `json:"code"`
			Message   string `json:"message"`
			RequestID string `json:"request_id"`
		} `json:"error"`
	}
	_ = json.Unmarshal(w.Body.Bytes(), &problem)
	if w.Code >= 400 {
		refusals.Add(1)
	}
	if w.Code >= 400 && (problem.Error.RequestID == "" || problem.Error.Message == "") {
		b.t.Errorf("%s: %d without an envelope: %s", path, w.Code, w.Body)
	}
	b.transcript.add("%s %s %d%s%s %s", method, path, w.Code, header(w, "Retry-After"), header(w, "WWW-Authenticate"),
		w.Body)
	return answer{w.Code, problem.Error.Code, w.Body.String(), w.Header().Get("Retry-After")}
}

// wants compares status and code.
func (b *bed) wants(got answer, status int, code string) {
	b.t.Helper()
	if got.status != status || got.code != code {
		b.t.Errorf("%d %q, want %d %q: %s", got.status, got.code, status, code, got.body)
	}
	if got.retryAfter != "" && status != http.StatusTooManyRequests && status != http.StatusServiceUnavailable {
		b.t.Errorf("%d %q says when to come back: %q", got.status, got.code, got.retryAfter)
	}
}

// enrol uses a code, which must let in.
func (b *bed) enrol(code, token string) wire.Enrolled {
	b.t.Helper()
	got := b.post("/enroll", token, wire.Enrollment{Code: code, DeviceLabel: "Studio desktop", AgentVersion: "1.2"})
	b.wants(got, http.StatusCreated, "")
	var e wire.Enrolled
	if err := json.Unmarshal([]byte(got.body), &e); err != nil {
		b.t.Fatal(err)
	}
	return e
}

// header returns a header of a response with its name, for a transcript.
func header(w *httptest.ResponseRecorder, name string) string {
	if value := w.Header().Get(name); value != "" {
		return " " + name + ": " + value
	}
	return ""
}
