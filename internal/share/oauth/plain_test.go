package oauth_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/oauth2"

	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/share/oauth"
)

var everything = grants.Decision{Approve: true, Streams: grants.GrantedStreams{{ConnectionID: "c1", Stream: "letters"}}}

// plain returns the address of a request that is not pushed.
func plain(client string, change ...string) string {
	q := url.Values{"client_id": {client}, "response_type": {"code"}, "redirect_uri": {back}, "state": {"st&te"},
		"code_challenge": {challenge()}, "code_challenge_method": {"S256"}, "resource": {issuer + "/mcp"}}
	for i := 0; i < len(change); i += 2 {
		q.Set(change[i], change[i+1])
		if change[i+1] == "" {
			q.Del(change[i])
		}
	}
	return "/oauth/authorize?" + q.Encode()
}

// consent returns the id of the request that a browser is sent to decide.
func consent(t *testing.T, a answer) string {
	t.Helper()
	id, ok := strings.CutPrefix(a.header.Get("Location"), "/sharing/allow/")
	if !ok {
		t.Fatalf("the browser is sent to %q: %d %s", a.header.Get("Location"), a.status, a.raw)
	}
	return id
}

// A library for plain OAuth 2.1 goes through the whole flow unmodified. The owner chooses what may be read; without a
// choice nothing is. The token ends after 90 days.
func TestPlainClient(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		client := w.register(`{"client_name":"Assistant","redirect_uris":["` + back + `"]}`).Client
		c := oauth2.Config{ClientID: client, RedirectURL: back, Endpoint: oauth2.Endpoint{
			AuthURL: w.address + "/oauth/authorize", TokenURL: w.address + "/oauth/token"}, Scopes: []string{"anything"}}
		secret := oauth2.GenerateVerifier()
		resource := oauth2.SetAuthURLParam("resource", issuer+"/mcp")
		request := consent(t, w.get(strings.TrimPrefix(c.AuthCodeURL("st", oauth2.S256ChallengeOption(secret), resource),
			w.address)))
		asked, err := w.grants.RequestByID(t.Context(), request)
		check(t, err)
		if !asked.OwnerChooses || len(asked.Scope) != 2 || asked.ExpiresAt.Sub(noon).Hours() != 90*24 {
			t.Fatalf("the owner is asked %+v", asked)
		}
		for _, chosen := range []grants.GrantedStreams{nil, {{ConnectionID: "c2", Stream: "notes"}}} {
			if _, _, err := w.grants.Decide(t.Context(), request, grants.Decision{Approve: true, Streams: chosen}); !isCode(err,
				grants.CodeInvalidRequest) {
				t.Errorf("%v was approved: %v", chosen, err)
			}
		}
		address, _, err := w.grants.Decide(t.Context(), request, everything)
		check(t, err)
		returned, err := url.Parse(address)
		check(t, err)
		q := returned.Query()
		if q.Get("state") != "st" || q.Get("iss") != issuer {
			t.Errorf("the app gets %s", address)
		}
		token, err := c.Exchange(t.Context(), q.Get("code"), oauth2.VerifierOption(secret), resource)
		if err != nil {
			t.Fatalf("exchange the code: %v", err)
		}
		who, err := w.grants.Access(t.Context(), token.AccessToken)
		check(t, err)
		if scope := who.Grant().Scope; len(scope) != 1 || scope[0].Stream != "letters" {
			t.Errorf("it may read %v", scope)
		}
		if err := grants.CheckAudience(token.AccessToken, grants.AssistantAudience); err != nil {
			t.Errorf("where it is for: %v", err)
		}
		if err := grants.CheckAudience(token.AccessToken, grants.APIAudience); !isCode(err, grants.CodeInvalidToken) {
			t.Errorf("elsewhere: %v", err)
		}
		for _, changed := range []string{"pdpp_gt_", "pdpp_gt_api_"} {
			other := strings.Replace(token.AccessToken, "pdpp_gt_mcp_", changed, 1)
			if _, err := w.grants.Access(t.Context(), other); !isCode(err, grants.CodeInvalidToken) {
				t.Errorf("the token with another audience: %v", err)
			}
		}
	})
}

// A decision on the server's machine names the address of the server that runs, as the app knows it.
func TestDecisionNamesTheServer(t *testing.T) {
	w := newWorld(t)
	client := w.register(`{"client_name":"Assistant","redirect_uris":["` + back + `"]}`).Client
	request := consent(t, w.get(plain(client)))
	check(t, w.store.PutSetting(t.Context(), "server_address", []byte(issuer), noon))
	command := grants.NewService(w.store, "", w.grants.Now)
	address, _, err := command.Decide(t.Context(), request, everything)
	check(t, err)
	if u, err := url.Parse(address); err != nil || u.Query().Get("iss") != issuer {
		t.Errorf("the app gets %s: %v", address, err)
	}
}

// Errors of a plain request reach the app only at an address of its own.
func TestPlainAttacks(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		client := w.register(`{"client_name":"Assistant","redirect_uris":["` + back + `"]}`).Client
		for _, tt := range []struct {
			change []string
			status int
			code   string // at the app's address for a redirect
		}{
			{[]string{"client_id", "cl_nobody"}, 401, "invalid_client"},
			{[]string{"redirect_uri", "https://evil.example/"}, 400, "invalid_redirect_uri"},
			{[]string{"redirect_uri", ""}, 400, "invalid_redirect_uri"},
			{[]string{"redirect_uri", back + "&x=1"}, 400, "invalid_redirect_uri"},
			{[]string{"code_challenge_method", "plain"}, 303, "invalid_request"},
			{[]string{"code_challenge", ""}, 303, "invalid_request"},
			{[]string{"code_challenge_method", ""}, 303, "invalid_request"},
			{[]string{"response_type", "token"}, 303, "unsupported_response_type"},
			{[]string{"request", "eyJ"}, 303, "request_not_supported"},
			{[]string{"resource", "https://other.example/mcp"}, 303, "invalid_target"},
			{[]string{"resource", issuer + "/mcp/../v1"}, 303, "invalid_target"},
			{[]string{"authorization_details", "[]"}, 303, "invalid_authorization_details"},
		} {
			a := w.get(plain(client, tt.change...))
			got := a.Error
			if a.status == http.StatusSeeOther {
				at, err := url.Parse(a.header.Get("Location"))
				check(t, err)
				if got = at.Query().Get("error"); at.Host != "app.example" || at.Query().Get("state") != "st&te" ||
					at.Query().Get("iss") != issuer {
					t.Errorf("%v: sent to %s", tt.change, at)
				}
			}
			if a.status != tt.status || got != tt.code {
				t.Errorf("%v: %d %q %s", tt.change, a.status, got, a.raw)
			}
		}
		request := consent(t, w.get(plain(client)))
		address, _, err := w.grants.Decide(t.Context(), request, everything)
		check(t, err)
		u, err := url.Parse(address)
		check(t, err)
		form := exchange(client, u.Query().Get("code"))
		form.Set("resource", issuer)
		if a := w.post("/oauth/token", form); a.Error != "invalid_target" {
			t.Errorf("a token for another resource: %d %s", a.status, a.raw)
		}
		form.Set("code", strings.Replace(form.Get("code"), "pdpp_gc_mcp_", "pdpp_gc_api_", 1))
		if a := w.post("/oauth/token", form); a.Error != "invalid_grant" {
			t.Errorf("a code for another resource: %d %s", a.status, a.raw)
		}
		form.Del("resource")
		form.Set("code", u.Query().Get("code"))
		if a := w.post("/oauth/token", form); !strings.HasPrefix(a.Token, "pdpp_gt_mcp_") {
			t.Errorf("without a resource: %d %s", a.status, a.raw)
		}
	})
}

// An app that registers as one that pushes its requests has no others.
func TestAppMustPush(t *testing.T) {
	w := newWorld(t)
	registered := w.register(`{"client_name":"Assistant","redirect_uris":["` + back +
		`"],"require_pushed_authorization_requests":true}`)
	if !strings.Contains(registered.raw, `"require_pushed_authorization_requests":true`) {
		t.Errorf("registered as %s", registered.raw)
	}
	a := w.get(plain(registered.Client))
	at, err := url.Parse(a.header.Get("Location"))
	check(t, err)
	if a.status != http.StatusSeeOther || at.Query().Get("error") != "invalid_request" {
		t.Errorf("a request that was not pushed: %d %s", a.status, at)
	}
	if a := w.post("/oauth/par", pushed(registered.Client)); a.status != http.StatusCreated {
		t.Errorf("a pushed request: %d %s", a.status, a.raw)
	}
}

// documentServer serves a metadata document at https addresses.
type documentServer struct {
	body    string
	headers http.Header
	status  int
	fetched int
}

func (d *documentServer) RoundTrip(r *http.Request) (*http.Response, error) {
	d.fetched++
	w := httptest.NewRecorder()
	for name, values := range d.headers {
		w.Header()[name] = values
	}
	w.WriteHeader(max(d.status, 200))
	fmt.Fprint(w, d.body)
	answer := w.Result()
	answer.Request = r
	return answer, nil
}

const documentID = "https://app.example/client.json"

// An app that is known by the address of its document asks without registering. The document is fetched once until its
// time is over, and its host is a part of the name that the owner sees.
func TestClientDocument(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		good := `{"client_id":"` + documentID + `","client_name":"Assistant","redirect_uris":["` + back +
			`","http://127.0.0.1/done"],"token_endpoint_auth_method":"none"}`
		served := &documentServer{body: good, headers: http.Header{"Cache-Control": {"max-age=600"}}}
		w.grants.Documents = oauth.PublicDocuments{Transport: served}
		for range 2 {
			request := consent(t, w.get(plain(documentID)))
			asked, err := w.grants.RequestByID(t.Context(), request)
			check(t, err)
			if asked.ClientName != "app.example (Assistant)" || served.fetched != 1 {
				t.Errorf("%q asks after %d fetches", asked.ClientName, served.fetched)
			}
		}
		consent(t, w.get(plain(documentID, "redirect_uri", "http://127.0.0.1:49152/done")))
		w.later.Add(int64(601e9))
		request := consent(t, w.get(plain(documentID)))
		if served.fetched != 2 {
			t.Errorf("after its time it was fetched %d times", served.fetched)
		}
		address, _, err := w.grants.Decide(t.Context(), request, everything)
		check(t, err)
		u, err := url.Parse(address)
		check(t, err)
		if a := w.post("/oauth/token", exchange(documentID, u.Query().Get("code"))); a.Token == "" {
			t.Errorf("the exchange: %d %s", a.status, a.raw)
		}
		for name, change := range map[string]func(d *documentServer){
			"another id":   func(d *documentServer) { d.body = strings.Replace(good, "client.json", "other.json", 1) },
			"a redirect":   func(d *documentServer) { d.status = 302 },
			"no JSON":      func(d *documentServer) { d.body = "<html>" },
			"too large":    func(d *documentServer) { d.body = good + strings.Repeat(" ", 10<<10) },
			"a secret":     func(d *documentServer) { d.body = strings.Replace(good, `"none"`, `"client_secret_basic"`, 1) },
			"no addresses": func(d *documentServer) { d.body = `{"client_id":"` + documentID + `","client_name":"x"}` },
		} {
			w.later.Add(int64(25 * 3600e9))
			broken := &documentServer{body: good}
			change(broken)
			w.grants.Documents = oauth.PublicDocuments{Transport: broken}
			if a := w.get(plain(documentID)); a.status < 400 || a.header.Get("Location") != "" || broken.fetched != 1 {
				t.Errorf("%s: %d %s after %d fetches", name, a.status, a.raw, broken.fetched)
			}
		}
	})
}

// A document is never fetched from this machine, the owner's network or without TLS.
func TestDocumentsArePublic(t *testing.T) {
	reached := false
	local := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	defer local.Close()
	for _, address := range []string{local.URL + "/client.json", "https://10.0.0.1/client.json",
		"https://169.254.169.254/latest", "https://[::1]/client.json", "https://[::ffff:127.0.0.1]/client.json",
		"https://100.64.0.1/client.json", "https://[64:ff9b::7f00:1]/client.json", "https://0.0.0.0/client.json",
		"http://app.example/client.json"} {
		_, _, err := oauth.PublicDocuments{}.Fetch(t.Context(), address)
		if err == nil || !strings.Contains(err.Error(), "not public") && !strings.Contains(err.Error(), "not one of https") {
			t.Errorf("%s: %v", address, err)
		}
	}
	if reached {
		t.Error("a server of this machine was reached")
	}
}
