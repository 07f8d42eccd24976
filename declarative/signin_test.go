//pdpp:tier programs

package declarative_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/declarative/describe"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
)

const notesPerStream = 8

// notesProvider is the invented provider of the files with a sign-in. It issues tokens and serves two lists in pages.
type notesProvider struct {
	*httptest.Server
	mu      sync.Mutex
	token   string // the only good one
	left    int    // requests that the token is still good for
	lasts   int    // requests that each token is good for
	ended   int    // status of a request with another token
	refresh string // the only good refresh token
	issued  int
	refused bool              // it refuses all sign-ins
	moved   string            // where it redirects sign-ins
	beside  string            // a token that the owner made
	onPage  func()            // called before each page
	seen    []string          // paths of requests
	form    map[string]string // of the last token request
}

func newNotes(t *testing.T) *notesProvider {
	p := &notesProvider{lasts: 1000, refresh: "refresh-0", ended: http.StatusUnauthorized}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /oauth/token", p.exchange)
	mux.HandleFunc("POST /login", p.login)
	mux.HandleFunc("GET /v1/{stream}", p.list)
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.seen = append(p.seen, r.URL.Path)
		w.Header().Set("Content-Type", "application/json")
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *notesProvider) issue() string {
	p.issued++
	p.token, p.left = fmt.Sprintf("access-%d", p.issued), p.lasts
	return p.token
}

func (p *notesProvider) exchange(w http.ResponseWriter, r *http.Request) {
	if p.moved != "" {
		http.Redirect(w, r, p.moved, http.StatusTemporaryRedirect)
		return
	}
	_ = r.ParseForm()
	p.form = map[string]string{"authorization": r.Header.Get("Authorization")}
	for name, values := range r.PostForm {
		p.form[name] = strings.Join(values, ",")
	}
	if p.refused || p.form["kind"] == "refresh_token" && p.form["next_key"] != p.refresh {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"error":"invalid_grant","token":%q}`, p.form["next_key"])
		return
	}
	token := p.issue()
	p.refresh = fmt.Sprintf("refresh-%d", p.issued)
	fmt.Fprintf(w, `{"data":{"key":%q,"access_token":%q,"next_key":%q,"expires_in":3600}}`, token, token, p.refresh)
}

func (p *notesProvider) login(w http.ResponseWriter, r *http.Request) {
	var sent struct{ User, Username, Password string }
	if err := json.NewDecoder(r.Body).Decode(&sent); err != nil || p.refused || sent.User+sent.Username != "ada" ||
		sent.Password != "hush-password" {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `{"message":"wrong password"}`)
		return
	}
	token := p.issue()
	fmt.Fprintf(w, `{"id":%q,"session":{"id":%q}}`, token, token)
}

func (p *notesProvider) list(w http.ResponseWriter, r *http.Request) {
	if p.onPage != nil {
		p.onPage()
	}
	shown := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if session := r.Header.Get("X-Session"); session != "" {
		shown = strings.TrimPrefix(session, "Session ")
	}
	p.left--
	if shown == "" || shown != p.beside && (shown != p.token || p.left < 0) {
		w.WriteHeader(p.ended)
		fmt.Fprintf(w, `{"message":"the token %s has expired"}`, shown)
		return
	}
	page, _ := strconv.Atoi(r.URL.Query().Get("page"))
	items := []map[string]string{}
	for n := (page - 1) * 3; n < min(page*3, notesPerStream); n++ {
		id := fmt.Sprintf("%s-%d", r.PathValue("stream"), n)
		items = append(items, map[string]string{"id": id, "text": "Text of " + id})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"items": items})
}

// sentTo returns how many requests a path got.
func (p *notesProvider) sentTo(path string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, seen := range p.seen {
		if seen == path {
			n++
		}
	}
	return n
}

// signedIn is a file with its provider and with settings that the owner entered.
type signedIn struct {
	*connectortest.Harness
	provider *notesProvider
	launcher *launch.Launcher
	prefix   string
}

func connectNotes(t *testing.T, file string, settings map[string]string) *signedIn {
	t.Helper()
	c := wrapFile(t, file)
	p := newNotes(t)
	prefix := c.Manifest.EnvPrefix() + "_"
	h := connectortest.NewHarness(t, connectortest.Target{Connector: c,
		Start: func(*testing.T) *connectortest.Sim { return &connectortest.Sim{} }})
	values := credential.Values{prefix + "SERVER": credential.NewSecret(p.URL),
		describe.OwnServerVariable(c.Manifest): credential.NewSecret(describe.OwnServerYes)}
	for name, value := range settings {
		values[prefix+name] = credential.NewSecret(value)
	}
	key := credential.NewKey()
	if err := h.Store.PutCredential(t.Context(), store.Credential{ConnectionID: connectortest.Connection,
		Kind: "secret_bundle", Sealed: values.SealFor(key, connectortest.Connection), Status: store.CredentialActive,
		CapturedAt: time.Now().Truncate(time.Second)}); err != nil {
		t.Fatal(err)
	}
	l := h.Launcher()
	l.Secrets = launch.StoredSecrets(h.Store, key)
	return &signedIn{h, p, l, prefix}
}

// collect runs once and checks that no token is in what the run keeps.
func (s *signedIn) collect(t *testing.T, req launch.RunRequest) launch.RunResult {
	t.Helper()
	req.ConnectionID, req.Trigger = connectortest.Connection, store.TriggerManual
	r, err := s.launcher.Run(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	var kept strings.Builder
	for _, e := range r.Events {
		kept.Write(e.Data)
	}
	kept.WriteString(r.StderrTail)
	if r.Failure != nil {
		kept.WriteString(r.Failure.Error())
	}
	for _, secret := range []string{"access-", "refresh-", "hush"} {
		if strings.Contains(kept.String(), secret) {
			t.Errorf("the run keeps a secret (%s): %s", secret, kept.String())
		}
	}
	return r
}

// mustCollect runs once and checks that everything is stored.
func (s *signedIn) mustCollect(t *testing.T) {
	t.Helper()
	r := s.collect(t, launch.RunRequest{})
	if r.Status != runner.Succeeded {
		t.Fatalf("the run %s: %v\n%s", r.Status, r.Failure, r.StderrTail)
	}
	for _, stream := range []string{"notes", "tags"} {
		all, err := connectortest.StoredRecords(t.Context(), s.Store, stream)
		if err != nil || len(all) != notesPerStream {
			t.Errorf("%d records of %s, want %d: %v", len(all), stream, notesPerStream, err)
		}
	}
}

// mustAskOwner runs once and checks that the owner is asked for the credential.
func (s *signedIn) mustAskOwner(t *testing.T) {
	t.Helper()
	r := s.collect(t, launch.RunRequest{})
	if r.Status != runner.Failed || r.DoneError == nil || r.DoneError.Code != "auth_failure" ||
		r.DoneError.RecoveryHint == nil || r.DoneError.RecoveryHint.Action != "refresh_credentials" {
		t.Fatalf("the run %s: %v %+v", r.Status, r.Failure, r.DoneError)
	}
	c, err := s.Store.Credential(t.Context(), connectortest.Connection)
	if err != nil || c.Status != store.CredentialRejected {
		t.Errorf("the credential is %s: %v", c.Status, err)
	}
}

var app = map[string]string{"CREDENTIALS_CLIENT_ID": "app", "CREDENTIALS_CLIENT_SECRET": "hush-secret",
	"CREDENTIALS_REFRESH_TOKEN": "refresh-0"}

// A refresh token is exchanged once for both streams, as the file declares it, and again when the provider refuses the
// access token within the run. The next run has the newest refresh token.
func TestRefreshToken(t *testing.T) {
	t.Parallel()
	s := connectNotes(t, "refresh", app)
	s.provider.lasts = 5
	s.mustCollect(t)
	if n := s.provider.sentTo("/oauth/token"); n != 2 {
		t.Errorf("%d token requests, want 2", n)
	}
	want := map[string]string{"kind": "refresh_token", "next_key": "refresh-1", "scopes": "read", "audience": "notes",
		"authorization": "Basic " + base64.StdEncoding.EncodeToString([]byte("app:hush-secret"))}
	if fmt.Sprint(s.provider.form) != fmt.Sprint(want) {
		t.Errorf("the token request sends %v, want %v", s.provider.form, want)
	}
	s.provider.lasts = 1000
	s.mustCollect(t)
	stored, err := s.launcher.Secrets(t.Context(), connectortest.Connection)
	if got := stored.Values[s.prefix+"CREDENTIALS_REFRESH_TOKEN"]; err != nil || got != "refresh-3" {
		t.Errorf("%q is stored: %v", got, err)
	}
}

// A refresh token that was exchanged in a run which was killed is not lost.
func TestRefreshTokenSurvivesKill(t *testing.T) {
	t.Parallel()
	s := connectNotes(t, "refresh", app)
	var id string
	s.provider.onPage = func() { connectortest.KillConnector(id) }
	r := s.collect(t, launch.RunRequest{Started: func(runID string) { id = runID }})
	if r.Status != runner.Failed || s.provider.sentTo("/oauth/token") != 1 {
		t.Fatalf("the run %s after %d token requests: %v", r.Status, s.provider.sentTo("/oauth/token"), r.Failure)
	}
	s.provider.onPage = nil
	s.mustCollect(t)
}

// A refresh token that the provider refuses is the owner's to replace.
func TestRefusedRefreshToken(t *testing.T) {
	t.Parallel()
	s := connectNotes(t, "refresh", app)
	s.provider.refused = true
	s.mustAskOwner(t)
	if n := s.provider.sentTo("/oauth/token"); n != 1 {
		t.Errorf("%d token requests, want 1", n)
	}
}

// A token request is not repeated at an address that the provider redirects it to.
func TestTokenRequestFollowsNoRedirect(t *testing.T) {
	t.Parallel()
	s := connectNotes(t, "refresh", app)
	s.provider.moved = s.provider.URL + "/v1/elsewhere"
	if r := s.collect(t, launch.RunRequest{}); r.Status != runner.Failed {
		t.Errorf("the run %s", r.Status)
	}
	if n := s.provider.sentTo("/v1/elsewhere"); n > 0 {
		t.Errorf("%d requests followed", n)
	}
}

// The credential of an app is exchanged for tokens, and again after a refusal that the file names.
func TestClientCredentials(t *testing.T) {
	t.Parallel()
	s := connectNotes(t, "clientcredentials", map[string]string{"CLIENT_ID": "app", "CLIENT_SECRET": "hush-secret"})
	s.provider.lasts, s.provider.ended = 5, http.StatusForbidden
	s.mustCollect(t)
	if n := s.provider.sentTo("/oauth/token"); n != 2 {
		t.Errorf("%d token requests, want 2", n)
	}
	want := map[string]string{"grant_type": "client_credentials", "app": "app", "client_secret": "hush-secret",
		"audience": "notes", "authorization": ""}
	if fmt.Sprint(s.provider.form) != fmt.Sprint(want) {
		t.Errorf("the token request sends %v, want %v", s.provider.form, want)
	}
	s.provider.refused = true
	s.mustAskOwner(t)
}

// A session that ends within a run is begun again once. A refused sign-in, or a session that the provider does not
// accept, is the owner's concern.
func TestSessionToken(t *testing.T) {
	t.Parallel()
	s := connectNotes(t, "login", map[string]string{"USER": "ada", "PASSWORD": "hush-password"})
	s.provider.lasts = 5
	s.mustCollect(t)
	if n := s.provider.sentTo("/login"); n != 2 {
		t.Errorf("%d sign-ins, want 2", n)
	}
	s.provider.lasts = 0
	s.mustAskOwner(t)
	if n := s.provider.sentTo("/login"); n != 4 {
		t.Errorf("%d sign-ins, want 4", n)
	}
	s.provider.refused = true
	s.mustAskOwner(t)
}

// A session that the owner has begun is used until the provider refuses it. Then the connector signs in.
func TestLegacySession(t *testing.T) {
	t.Parallel()
	s := connectNotes(t, "legacy", map[string]string{"USER": "ada", "PASSWORD": "hush-password", "SESSION": "hush-own"})
	s.provider.beside = "hush-own"
	s.mustCollect(t)
	if n := s.provider.sentTo("/login"); n != 0 {
		t.Errorf("%d sign-ins, want none", n)
	}
	s.provider.beside = ""
	s.mustCollect(t)
	if n := s.provider.sentTo("/login"); n != 1 {
		t.Errorf("%d sign-ins, want 1", n)
	}
}

// The owner's settings choose the way to sign in. What cannot be used is not offered.
func TestChoiceOfSignIn(t *testing.T) {
	t.Parallel()
	var form *manifest.CredentialCapture
	for name, settings := range map[string]map[string]string{
		"by the settings": {"CREDENTIALS_TOKEN": "hush-own"},
		"by the choice": {"CREDENTIALS_WAY": "app", "CREDENTIALS_TOKEN": "hush-wrong", "CREDENTIALS_CLIENT_ID": "app",
			"CREDENTIALS_CLIENT_SECRET": "hush-secret"},
	} {
		s := connectNotes(t, "choice", settings)
		s.provider.beside = "hush-own"
		s.mustCollect(t)
		if n := s.provider.sentTo("/oauth/token"); (n > 0) != (name == "by the choice") {
			t.Errorf("%s: %d token requests", name, n)
		}
		form = s.Target.Connector.Manifest.Setup.CredentialCapture
	}
	var labels []string
	for _, f := range form.Fields {
		labels = append(labels, f.Name)
		if f.Name == "credentials_way" && !strings.Contains(f.HelpText, "One of: own_token, app.") {
			t.Errorf("the choice offers: %s", f.HelpText)
		}
	}
	if !slices.Contains(labels, "credentials_way") || slices.Contains(labels, "credentials_signature") {
		t.Errorf("the form asks for %v", labels)
	}
}
