package oauth_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/share/oauth"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres/postgrestest"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
)

const issuer = "https://home.example"

const journal = `{"protocol_version":"0.1.0","connector_id":"https://registry.example/connectors/journal",` +
	`"connector_key":"journal","version":"1.0.0","display_name":"Journal","streams":[
 {"name":"notes","semantics":"mutable_state","primary_key":"id","consent_time_field":"written_at",
  "schema":{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"title":{"type":"string"},` +
	`"body":{"type":"string"},"written_at":{"type":"string"}}}},
 {"name":"letters","semantics":"mutable_state","primary_key":"id","schema":{"type":"object","required":["id"],` +
	`"properties":{"id":{"type":"string"}}}}]}`

var noon = time.Date(2026, 4, 1, 12, 0, 0, 0, time.UTC)

type world struct {
	t       *testing.T
	grants  *grants.Service
	store   store.Store
	address string
	later   atomic.Int64
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (w *world) connect(id string, created time.Time) {
	w.t.Helper()
	check(w.t, w.store.CreateConnection(w.t.Context(), store.Connection{ID: id, ConnectorID: "journal", DisplayName: id,
		Status:     store.ConnectionActive,
		SourceKind: store.SourceAccount, CreatedAt: created, UpdatedAt: created}))
}

func newWorld(t *testing.T) *world {
	t.Helper()
	path := sqlitetest.NewDatabase(t, filepath.Join(t.TempDir(), "pdpp.db"))
	kept, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	check(t, err)
	return newWorldOver(t, kept)
}

// onBoth runs a test over each database: what holds in one could be open in the other.
func onBoth(t *testing.T, test func(t *testing.T, w *world)) {
	t.Run("sqlite", func(t *testing.T) { test(t, newWorld(t)) })
	t.Run("postgres", func(t *testing.T) {
		kept, err := postgres.Open(t.Context(), postgrestest.NewDatabase(t), postgres.Options{})
		check(t, err)
		test(t, newWorldOver(t, kept))
	})
}

func newWorldOver(t *testing.T, kept store.Store) *world {
	t.Helper()
	t.Cleanup(func() { kept.Close() })
	w := &world{t: t, store: kept}
	_, err := kept.PutManifest(t.Context(), "journal", []byte(journal), noon)
	check(t, err)
	w.connect("c1", noon.Add(-time.Hour))
	w.serve()
	return w
}

// serve answers by what the world's store holds.
func (w *world) serve() {
	w.grants = grants.NewService(w.store, issuer, func() time.Time { return noon.Add(time.Duration(w.later.Load())) })
	mux := http.NewServeMux()
	for _, r := range oauth.Routes(oauth.Config{Grants: w.grants, Issuer: issuer}) {
		mux.HandleFunc(r.Pattern, r.Handle)
	}
	server := httptest.NewServer(mux)
	w.t.Cleanup(server.Close)
	w.address = server.URL
}

type answer struct {
	status  int
	header  http.Header
	raw     string
	Error   string
	Client  string `json:"client_id"`
	Request string `json:"request_uri"`
	Token   string `json:"access_token"`
	Active  bool
	GrantID string                               `json:"grant_id"`
	Kind    string                               `json:"pdpp_token_kind"`
	Expires int64                                `json:"expires_in"`
	Details []struct{ Streams []map[string]any } `json:"authorization_details"`
}

func (w *world) send(req *http.Request) answer {
	w.t.Helper()
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	check(w.t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	check(w.t, err)
	a := answer{status: res.StatusCode, header: res.Header, raw: string(body)}
	_ = json.Unmarshal(body, &a)
	return a
}

func (w *world) post(path string, form url.Values) answer {
	w.t.Helper()
	req, err := http.NewRequest(http.MethodPost, w.address+path, strings.NewReader(form.Encode()))
	check(w.t, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return w.send(req)
}

func (w *world) get(path string) answer {
	w.t.Helper()
	req, err := http.NewRequest(http.MethodGet, w.address+path, nil)
	check(w.t, err)
	return w.send(req)
}

func (w *world) register(body string) answer {
	w.t.Helper()
	req, err := http.NewRequest(http.MethodPost, w.address+"/oauth/register", strings.NewReader(body))
	check(w.t, err)
	req.Header.Set("Content-Type", "application/json")
	return w.send(req)
}

const (
	back     = "https://app.example/back?from=pdpp"
	verifier = "a-verifier-that-is-long-enough-to-be-one-0123456789"
	wanted   = `[{"type":"pdpp","purpose":"Show your notes","access_mode":"continuous","streams":[{"name":"notes",` +
		`"fields":["title"],"time_range":{"since":"2026-01-01T00:00:00Z"}}]}]`
)

func challenge() string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func pushed(client string) url.Values {
	return url.Values{"client_id": {client}, "response_type": {"code"}, "redirect_uri": {back}, "state": {"st&te"},
		"code_challenge":        {challenge()},
		"code_challenge_method": {"S256"}, "authorization_details": {wanted}}
}

func exchange(client, code string) url.Values {
	return url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {back}, "client_id": {client},
		"code_verifier": {verifier}}
}

// app registers and pushes a request, and returns the request's id.
func (w *world) app() (client, request string) {
	w.t.Helper()
	client = w.register(`{"client_name":"Notes viewer","redirect_uris":["` + back + `"],"scope":"ignored"}`).Client
	a := w.post("/oauth/par", pushed(client))
	if a.status != http.StatusCreated {
		w.t.Fatalf("pushed: %d %s", a.status, a.raw)
	}
	return client, a.Request[strings.LastIndex(a.Request, ":")+1:]
}

// approve returns the code that the owner's approval sends back.
func (w *world) approve(request string) string {
	w.t.Helper()
	address, _, err := w.grants.Decide(w.t.Context(), request, grants.Decision{Approve: true})
	check(w.t, err)
	u, err := url.Parse(address)
	check(w.t, err)
	return u.Query().Get("code")
}

// An app asks, the owner approves, and the app receives a token with its scope.
func TestFlow(t *testing.T) {
	w := newWorld(t)
	client, request := w.app()
	a := w.get("/oauth/authorize?client_id=" + client + "&request_uri=" +
		url.QueryEscape("urn:ietf:params:oauth:request_uri:"+request))
	if a.status != http.StatusSeeOther || a.header.Get("Location") != "/sharing/allow/"+request {
		t.Fatalf("authorize: %d %s", a.status, a.header.Get("Location"))
	}
	r, err := w.grants.RequestByID(t.Context(), request)
	check(t, err)
	if r.ClientName != "Notes viewer" || len(r.Scope) != 1 || r.Scope[0].ConnectionID != "c1" ||
		strings.Join(r.Scope[0].Fields, " ") != "id title" {
		t.Fatalf("the owner sees %+v", r)
	}
	address, _, err := w.grants.Decide(t.Context(), request, grants.Decision{Approve: true})
	check(t, err)
	u, err := url.Parse(address)
	check(t, err)
	q := u.Query()
	if u.Host != "app.example" || q.Get("from") != "pdpp" || q.Get("state") != "st&te" || q.Get("iss") != issuer ||
		q.Get("code") == "" {
		t.Fatalf("goes back to %s", address)
	}
	a = w.post("/oauth/token", exchange(client, q.Get("code")))
	if a.status != 200 || !strings.HasPrefix(a.Token, grants.TokenPrefix) || len(a.Details) != 1 ||
		a.Details[0].Streams[0]["connection_id"] != "c1" {
		t.Fatalf("token: %d %s", a.status, a.raw)
	}
	if a.header.Get("Cache-Control") != "no-store" {
		t.Error("a token may be kept on the way")
	}
	if _, err := w.grants.Access(t.Context(), a.Token); err != nil {
		t.Errorf("the token: %v", err)
	}
	token := url.Values{"token": {a.Token}}
	made, err := w.grants.One(t.Context(), a.GrantID)
	check(t, err)
	if i := w.post("/introspect", token); !i.Active || i.Kind != "client" || i.GrantID != a.GrantID ||
		!strings.Contains(i.raw, `"subject_id":"owner"`) ||
		!strings.Contains(i.raw, fmt.Sprintf(`"exp":%d,`, made.ExpiresAt.Unix())) {
		t.Errorf("introspection: %s", i.raw)
	}
	if v := w.post("/oauth/revoke", token); v.status != 200 {
		t.Errorf("revocation: %d %s", v.status, v.raw)
	}
	if i := w.post("/introspect", token); strings.TrimSpace(i.raw) != `{"active":false}` {
		t.Errorf("introspection after it: %s", i.raw)
	}
	if v := w.post("/oauth/revoke", url.Values{"token": {"unknown"}}); v.status != 200 {
		t.Errorf("revocation of nothing: %d %s", v.status, v.raw)
	}
	client, request = w.app()
	soon := w.grants.Now().Add(time.Second / 2)
	address, _, err = w.grants.Decide(t.Context(), request, grants.Decision{Approve: true, End: grants.End{At: &soon}})
	check(t, err)
	u, err = url.Parse(address)
	check(t, err)
	if a = w.post("/oauth/token", exchange(client, u.Query().Get("code"))); !strings.Contains(a.raw, `"expires_in":1,`) {
		t.Errorf("a token for half a second: %s", a.raw) // none means that it never ends
	}
	check(t, w.store.Close()) // a token that cannot be looked up is neither inactive nor revoked
	for path, form := range map[string]url.Values{
		"/introspect": token, "/oauth/revoke": token, "/oauth/token": exchange(client, q.Get("code")),
	} {
		if a := w.post(path, form); a.status != http.StatusInternalServerError || a.Error != "server_error" {
			t.Errorf("%s without a database: %d %s", path, a.status, a.raw)
		}
	}
}

func TestDenial(t *testing.T) {
	w := newWorld(t)
	_, request := w.app()
	address, _, err := w.grants.Decide(t.Context(), request, grants.Decision{Approve: false})
	check(t, err)
	if !strings.Contains(address, "error=access_denied") || strings.Contains(address, "code=") {
		t.Errorf("goes back to %s", address)
	}
	for _, approve := range []bool{true, false} {
		if _, _, err := w.grants.Decide(t.Context(), request, grants.Decision{Approve: approve}); !isCode(err,
			grants.CodeAlreadyDecided) {
			t.Errorf("decided again: %v", err)
		}
	}
	if all, err := w.grants.List(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("grants after a denial: %v, %v", all, err)
	}
}

func isCode(err error, code string) bool {
	refused, ok := err.(grants.Refusal)
	return ok && refused.Code == code
}

// However long an app asks for, its grant ends after a year unless the owner chooses. One that asks for no end gets the
// usual 90 days.
func TestConsentEnds(t *testing.T) {
	w := newWorld(t)
	year, month, usual := noon.AddDate(1, 0, 0), noon.AddDate(0, 1, 0), noon.AddDate(0, 0, 90)
	for _, c := range []struct {
		asked  string
		chosen grants.End
		want   *time.Time
	}{
		{"", grants.End{}, &usual},
		{"2031-01-01T00:00:00Z", grants.End{}, &year},
		{month.Format(time.RFC3339), grants.End{}, &month},
		{"", grants.End{Never: true}, nil},
		{month.Format(time.RFC3339), grants.End{At: &year}, &year},
	} {
		client := w.register(`{"client_name":"App","redirect_uris":["` + back + `"]}`).Client
		form := pushed(client)
		if c.asked != "" {
			form.Set("authorization_details", strings.Replace(wanted, `"streams"`, `"expires_at":"`+c.asked+`","streams"`, 1))
		}
		a := w.post("/oauth/par", form)
		id := a.Request[strings.LastIndex(a.Request, ":")+1:]
		r, err := w.grants.RequestByID(t.Context(), id)
		check(t, err)
		if c.chosen == (grants.End{}) && !r.ExpiresAt.Equal(*c.want) {
			t.Errorf("asked for %q, the owner sees %v, want %v", c.asked, r.ExpiresAt, c.want)
		}
		_, _, err = w.grants.Decide(t.Context(), id, grants.Decision{Approve: true, End: c.chosen})
		check(t, err)
		all, err := w.grants.List(t.Context())
		check(t, err)
		var got *time.Time
		for _, g := range all {
			if g.ClientID == client {
				got = g.ExpiresAt
			}
		}
		if (got == nil) != (c.want == nil) || got != nil && !got.Equal(*c.want) {
			t.Errorf("asked for %q, chosen %+v: ends %v, want %v", c.asked, c.chosen, got, c.want)
		}
	}
}
