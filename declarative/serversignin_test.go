//pdpp:tier programs

package declarative_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/declarative"
	"github.com/pdpp-go/pdpp/declarative/describe"
	"github.com/pdpp-go/pdpp/declarative/document"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/providerauth"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// consulate is the provider of the file of that name: a sign-in page, a token endpoint and one list.
type consulate struct {
	*httptest.Server
	mu      sync.Mutex
	codes   map[string]string // return address by code
	refresh string            // the only good refresh token
	access  string            // the only good access token
	issued  int
	declines,
	refuses bool
	forms []url.Values // of the token endpoint
	hosts []string     // that requests were sent to
}

func newConsulate(t *testing.T) *consulate {
	p := &consulate{codes: map[string]string{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /sign-in", p.signIn)
	mux.HandleFunc("POST /token", p.exchange)
	mux.HandleFunc("GET /papers", p.papers)
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(p.Close)
	return p
}

// RoundTrip leads the server's requests to the provider, whatever their host, and keeps the host.
func (p *consulate) RoundTrip(r *http.Request) (*http.Response, error) {
	p.mu.Lock()
	p.hosts = append(p.hosts, r.URL.Scheme+"://"+r.URL.Host)
	p.mu.Unlock()
	to, err := url.Parse(p.URL)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host = to.Scheme, to.Host
	return http.DefaultTransport.RoundTrip(r)
}

func (p *consulate) signIn(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	back := url.Values{"state": {q.Get("state")}}
	if p.declines {
		back.Set("error", "access_denied")
	} else {
		code := fmt.Sprintf("code-%d", len(p.codes)+1)
		p.codes[code] = q.Get("redirect_uri")
		back.Set("code", code)
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

func (p *consulate) exchange(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	p.forms = append(p.forms, r.PostForm)
	f := r.PostForm
	known := f.Get("client_id") == "app-7" && f.Get("client_secret") == "hush-secret"
	good := f.Get("grant_type") == "authorization_code" && p.codes[f.Get("code")] == f.Get("redirect_uri") ||
		f.Get("grant_type") == "refresh_token" && f.Get("refresh_token") == p.refresh
	if !known || !good || p.refuses {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"error":"invalid_grant","echo":%q}`, f.Encode())
		return
	}
	delete(p.codes, f.Get("code"))
	p.issued++
	p.access, p.refresh = fmt.Sprintf("access-%d", p.issued), fmt.Sprintf("refresh-%d", p.issued)
	fmt.Fprintf(w, `{"access_token":%q,"refresh_token":%q,"token_type":"bearer","expires_in":3600}`, p.access, p.refresh)
}

func (p *consulate) papers(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer "+p.access || p.access == "" {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"message":"not good: %s"}`, r.Header.Get("Authorization"))
		return
	}
	fmt.Fprint(w, `{"items":[{"id":"p1","name":"Passport"},{"id":"p2","name":"Visa"}]}`)
}

// consent visits the sign-in page as the owner's browser does, and returns the answer.
func (p *consulate) consent(t *testing.T, address string) providerauth.ProviderAnswer {
	t.Helper()
	client := &http.Client{Transport: p,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	back, err := resp.Location()
	if err != nil {
		t.Fatalf("%s: %d: %v", address, resp.StatusCode, err)
	}
	return providerauth.ProviderAnswer{Code: back.Query().Get("code"), Error: back.Query().Get("error")}
}

const returnAddress = "https://pdpp.example/oauth/callback"

// The server signs the owner in as a file describes it, with the owner's own app, and refreshes the tokens. The
// connector receives access tokens only. A sign-in that was declined or refused stores nothing.
func TestServerSignsIn(t *testing.T) {
	t.Parallel()
	p := newConsulate(t)
	c := wrapPath(t, filepath.Join("testdata", "manifests", "consulate.yaml"), "consulate")
	h := connectortest.NewHarness(t, connectortest.Target{Connector: c,
		Start: func(*testing.T) *connectortest.Sim { return &connectortest.Sim{} }})
	for _, name := range c.Manifest.EnvNames() {
		if strings.Contains(name, "REFRESH") || strings.Contains(name, "CLIENT") {
			t.Errorf("the connector receives %s", name)
		}
	}
	key := credential.NewKey()
	keeper := &providerauth.Keeper{Store: h.Store, Transport: p,
		Key: func() (credential.Key, error) { return key, nil }}
	source := providerauth.SignInSource{ConnectionID: connectortest.Connection, ConnectorID: "consulate",
		Manifest: c.Manifest}
	if err := keeper.SetApp(t.Context(), source, "app-7", "hush-secret"); err != nil {
		t.Fatal(err)
	}
	signIn := func() error {
		begun, err := keeper.Begin(t.Context(), source, "owner", returnAddress, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = keeper.Finish(t.Context(), source, begun.State, "owner", p.consent(t, begun.URL))
		return err
	}
	nothing := func(when string, err error) {
		t.Helper()
		if err == nil {
			t.Errorf("%s: the sign-in succeeded", when)
		} else if strings.Contains(err.Error(), "hush") || strings.Contains(err.Error(), "code-") {
			t.Errorf("%s: the error contains a secret: %v", when, err)
		}
		if _, err := h.Store.Credential(t.Context(), connectortest.Connection); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: something is stored: %v", when, err)
		}
	}
	p.declines = true
	nothing("declined", signIn())
	p.declines, p.refuses = false, true
	nothing("refused", signIn())
	p.refuses = false
	if err := signIn(); err != nil {
		t.Fatal(err)
	}

	l := h.Launcher()
	l.Tokens = keeper
	l.Lookup = func(name string) (string, bool) { return p.URL, name == "PDPP_CONSULATE_BASE_URL" }
	s := &signedIn{Harness: h, launcher: l}
	collect := func() {
		t.Helper()
		if r := s.collect(t, launch.RunRequest{}); r.Status != runner.Succeeded {
			t.Fatalf("the run %s: %v\n%s", r.Status, r.Failure, r.StderrTail)
		}
		all, err := connectortest.StoredRecords(t.Context(), h.Store, "papers")
		if err != nil || len(all) != 2 {
			t.Errorf("%d papers: %v", len(all), err)
		}
	}
	collect()
	p.access = "access-withdrawn"
	collect()
	if last := p.forms[len(p.forms)-1]; last.Get("grant_type") != "refresh_token" || last.Get("refresh_token") !=
		"refresh-1" || p.issued != 2 {
		t.Errorf("after a refused access token the server sends %v, %d tokens", last, p.issued)
	}
	for _, host := range p.hosts {
		if host != "https://auth.consulate.example" {
			t.Errorf("the server sent a request to %s", host)
		}
	}

	// A consent that was withdrawn is the owner's to give again.
	p.refresh, p.access = "", ""
	r := s.collect(t, launch.RunRequest{})
	if r.Status != runner.Failed || r.DoneError == nil || r.DoneError.RecoveryHint.Action != "refresh_credentials" {
		t.Errorf("after the consent was withdrawn the run %s: %v %+v", r.Status, r.Failure, r.DoneError)
	}
}

// The server carries out only the sign-in that the requests of a file declare, at hosts that the owner sees.
func TestServerSignInIsDeclared(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("testdata", "manifests", "consulate.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	read := func(edit ...string) (*describe.Description, error) {
		return declarative.DescribeFile([]byte(strings.NewReplacer(edit...).Replace(string(text))),
			describe.Options{Key: "consulate"})
	}
	d, err := read("&state=", "&access_type=offline&scope=papers%20visas&state=")
	if err != nil {
		t.Fatal(err)
	}
	var hosts []string
	for _, h := range d.Hosts {
		hosts = append(hosts, h.Use+" "+h.Name)
	}
	want := []string{"requests consulate.example", "sign-in by POST auth.consulate.example",
		"sign-in page auth.consulate.example"}
	if !slices.Equal(hosts, want) {
		t.Errorf("hosts %q, want %q", hosts, want)
	}
	o := d.Manifest.OAuth()
	if o == nil || o.AuthorizeURL != "https://auth.consulate.example/sign-in" || len(o.Scopes) != 2 ||
		fmt.Sprint(o.AuthorizeParams) != "map[access_type:offline]" || d.Manifest.Setup.CredentialCapture != nil {
		t.Fatalf("the sign-in is %+v", o)
	}
	const auth, host = "https://auth.consulate.example", "consulate.example"
	line := func(text string) string { return text + "\n" }
	for name, edit := range map[string][]string{
		"codes go elsewhere":       {"access_token_url: " + auth + "/token", "access_token_url: https://evil.example/token"},
		"a private token endpoint": {auth + "/token", "https://192.168.7.1/token"},
		"an unencrypted one":       {auth + "/token", "http://auth." + host + "/token"},
		"a host from a setting":    {auth + "/sign-in", "https://{{ config['client_id'] }}.example/sign-in"},
		"another parameter":        {"state={{ state_value }}", "ticket={{ state_value }}"},
		"an unknown value":         {"&state=", "&who={{ owner_value }}&state="},
		"headers of its own": {"        access_token_url:", line("        access_token_headers: {X-App: one}") +
			"        access_token_url:"},
		"another grant": {"          refresh_token: ", line("          grant_type: password") +
			"          refresh_token: "},
		"a secret elsewhere": {line("        path: /papers"), line("        path: /papers") +
			line("        request_headers: {X-App: \"{{ config['client_id'] }}\"}")},
		"another setting": {line("      client_id: {type: string}"), line("      client_id: {type: string}") +
			line("      team: {type: string, airbyte_secret: true}")},
	} {
		d, err := read(edit...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if d.ServerSignIn != nil || d.Manifest.OAuth() != nil {
			t.Errorf("%s: the server would sign in: %+v", name, d.Manifest.OAuth())
		}
	}
	for name, member := range map[string]string{
		"token_url": `https://evil.example/token`, "authorize_url": `https://evil.example/sign-in`,
		"device_url": `https://evil.example/device`,
	} {
		oauth := map[string]any{"oauth": map[string]string{name: member}}
		addition, _ := json.Marshal(map[string]any{"setup": oauth}) // texts
		_, err := read("version: 1.0.0\n", "version: 1.0.0\nmetadata: {pdpp: {manifest: "+string(addition)+"}}\n")
		var problems document.Problems
		if !errors.As(err, &problems) || !strings.Contains(err.Error(), "changes the sign-in") {
			t.Errorf("an addition that sets %s: %v", name, err)
		}
	}
}

// A source whose folder was written with a form keeps it: its connections have a refresh token, and no sign-in.
func TestFolderWithForm(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("testdata", "manifests", "consulate.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "consulate")
	if _, err := declarative.Wrap(dir, text, describe.Options{Key: "consulate"}); err != nil {
		t.Fatal(err)
	}
	for _, asks := range []bool{false, true} {
		d, err := declarative.DescribeFile(text, describe.Options{Key: "consulate", AsksForToken: asks})
		if err != nil {
			t.Fatal(err)
		}
		body, err := d.Manifest.JSON()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "manifest.json"), body, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := declarative.Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		if hasForm := c.Manifest.Setup.CredentialCapture != nil; hasForm != asks || (c.Manifest.OAuth() == nil) != asks {
			t.Errorf("with a form %t: the connector has a form %t and the sign-in %+v", asks, hasForm, c.Manifest.OAuth())
		}
	}
}
