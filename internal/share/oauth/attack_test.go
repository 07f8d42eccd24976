package oauth_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/share/grants"
)

// A code is worth nothing without what belongs to it, and a second use ends the grant.
func TestCodeAttacks(t *testing.T) { onBoth(t, testCodeAttacks) }

func testCodeAttacks(t *testing.T, w *world) {
	client, request := w.app()
	other, _ := w.app()
	code := w.approve(request)
	for name, change := range map[string]func(url.Values){
		"wrong verifier":   func(f url.Values) { f.Set("code_verifier", strings.Repeat("b", 43)) },
		"the challenge":    func(f url.Values) { f.Set("code_verifier", challenge()) },
		"short verifier":   func(f url.Values) { f.Set("code_verifier", "short") },
		"another address":  func(f url.Values) { f.Set("redirect_uri", "https://app.example/back") },
		"a longer address": func(f url.Values) { f.Set("redirect_uri", back+"&x=1") },
		"another client":   func(f url.Values) { f.Set("client_id", other) },
		"unknown code":     func(f url.Values) { f.Set("code", "pdpp_gc_"+strings.Repeat("A", 52)) },
		"malformed code":   func(f url.Values) { f.Set("code", "%") },
	} {
		form := exchange(client, code)
		change(form)
		if a := w.post("/oauth/token", form); a.status != 400 || a.Error != "invalid_grant" || a.Token != "" {
			t.Errorf("%s: %d %s", name, a.status, a.raw)
		}
	}
	for _, missing := range []string{"code", "redirect_uri", "client_id", "code_verifier"} {
		form := exchange(client, code)
		form.Del(missing)
		if a := w.post("/oauth/token", form); a.status != 400 || a.Error != "invalid_request" {
			t.Errorf("without %s: %d %s", missing, a.status, a.raw)
		}
	}
	if a := w.post("/oauth/token", url.Values{"grant_type": {"password"}}); a.Error != "unsupported_grant_type" {
		t.Errorf("another grant type: %d %s", a.status, a.raw)
	}
	token := w.post("/oauth/token", exchange(client, code)).Token
	if _, err := w.grants.Access(t.Context(), token); err != nil {
		t.Fatalf("after the attempts the right exchange gives %q: %v", token, err)
	}
	if a := w.post("/oauth/token", exchange(client, code)); a.status != 400 || a.Error != "invalid_grant" ||
		a.Token != "" {
		t.Errorf("replayed: %d %s", a.status, a.raw)
	}
	if _, err := w.grants.Access(t.Context(), token); !isCode(err, grants.CodeGrantRevoked) {
		t.Errorf("after the replay: %v", err)
	}
}

func TestCodeAndRequestExpire(t *testing.T) { onBoth(t, testCodeAndRequestExpire) }

func testCodeAndRequestExpire(t *testing.T, w *world) {
	client, request := w.app()
	code := w.approve(request)
	w.later.Add(int64(time.Minute))
	if a := w.post("/oauth/token", exchange(client, code)); a.Error != "invalid_grant" {
		t.Errorf("a minute later: %d %s", a.status, a.raw)
	}
	_, request = w.app()
	w.later.Add(int64(grants.RequestLife))
	if _, _, err := w.grants.Decide(t.Context(), request, grants.Decision{Approve: true}); !isCode(err,
		grants.CodeNotFound) {
		t.Errorf("after its time: %v", err)
	}
}

func TestPushAttacks(t *testing.T) { onBoth(t, testPushAttacks) }

func testPushAttacks(t *testing.T, w *world) {
	client, _ := w.app()
	for name, tt := range map[string]struct {
		change func(url.Values)
		want   string
	}{
		"unknown client": {func(f url.Values) { f.Set("client_id", "cl_nobody") }, "invalid_client"},
		"another address": {func(f url.Values) { f.Set("redirect_uri", "https://evil.example/back") },
			"invalid_redirect_uri"},
		"a part of the address": {func(f url.Values) { f.Set("redirect_uri", "https://app.example/back") },
			"invalid_redirect_uri"},
		"no challenge":           {func(f url.Values) { f.Del("code_challenge") }, "invalid_request"},
		"plain challenge":        {func(f url.Values) { f.Set("code_challenge_method", "plain") }, "invalid_request"},
		"no method":              {func(f url.Values) { f.Del("code_challenge_method") }, "invalid_request"},
		"implicit":               {func(f url.Values) { f.Set("response_type", "token") }, "unsupported_response_type"},
		"a parameter twice":      {func(f url.Values) { f.Add("client_id", client) }, "invalid_request"},
		"a request in a request": {func(f url.Values) { f.Set("request_uri", "urn:x") }, "invalid_request"},
		"no details":             {func(f url.Values) { f.Del("authorization_details") }, "invalid_authorization_details"},
		"another type": {func(f url.Values) {
			f.Set("authorization_details",
				`[{"type":"bank","streams":[{"name":"notes"}]}]`)
		}, "invalid_authorization_details"},
		"a limit that is unknown": {func(f url.Values) {
			f.Set("authorization_details", `[{"type":"pdpp","purpose":"x","streams":[{"name":"notes","rows":1}]}]`)
		}, "invalid_authorization_details"},
		"no streams": {func(f url.Values) { f.Set("authorization_details", `[{"type":"pdpp","purpose":"x","streams":[]}]`) },
			"invalid_authorization_details"},
		"no purpose": {func(f url.Values) {
			f.Set("authorization_details",
				`[{"type":"pdpp","streams":[{"name":"notes"}]}]`)
		}, "invalid_request"},
		"an end in the past": {func(f url.Values) {
			f.Set("authorization_details",
				`[{"type":"pdpp","purpose":"x","expires_at":"2020-01-01T00:00:00Z","streams":[{"name":"notes"}]}]`)
		}, "invalid_request"},
	} {
		form := pushed(client)
		tt.change(form)
		if a := w.post("/oauth/par", form); a.status < 400 || a.Error != tt.want || a.Request != "" {
			t.Errorf("%s: %d %s, want %s", name, a.status, a.raw, tt.want)
		}
	}
	form := pushed(client)
	form.Set("state", strings.Repeat("x", 100<<10))
	if a := w.post("/oauth/par", form); a.status != http.StatusRequestEntityTooLarge {
		t.Errorf("a large body: %d", a.status)
	}
}

// An app cannot find out what the owner has connected: what is not there is pushed as
// well as what is.
func TestPushTellsNothing(t *testing.T) { onBoth(t, testPushTellsNothing) }

func testPushTellsNothing(t *testing.T, w *world) {
	client, _ := w.app()
	for _, details := range []string{
		`[{"type":"pdpp","purpose":"x","streams":[{"name":"nowhere"}]}]`,
		`[{"type":"pdpp","purpose":"x","streams":[{"name":"notes","connector_id":"bank"}]}]`,
		`[{"type":"pdpp","purpose":"x","streams":[{"name":"notes","connection_id":"nobody"}]}]`,
		`[{"type":"pdpp","purpose":"x","streams":[{"name":"letters","time_range":{"since":"2026-01-01T00:00:00Z"}}]}]`,
		`[{"type":"pdpp","purpose":"x","streams":[{"name":"notes","fields":["colour"]}]}]`,
	} {
		form := pushed(client)
		form.Set("authorization_details", details)
		a := w.post("/oauth/par", form)
		if a.status != http.StatusCreated {
			t.Fatalf("%s: %d %s", details, a.status, a.raw)
		}
		id := a.Request[strings.LastIndex(a.Request, ":")+1:]
		if r, err := w.grants.RequestByID(t.Context(), id); err != nil || len(r.Scope) != 0 || len(r.Missing) != 1 {
			t.Errorf("%s: the owner sees %+v, %v", details, r, err)
		}
		if _, _, err := w.grants.Decide(t.Context(), id, grants.Decision{Approve: true}); !isCode(err,
			grants.CodeInvalidRequest) {
			t.Errorf("%s: approved with %v", details, err)
		}
		if _, _, err := w.grants.Decide(t.Context(), id, grants.Decision{Approve: false}); err != nil {
			t.Errorf("%s: denied with %v", details, err)
		}
	}
}

// What is connected after the app has asked is not part of what it gets.
func TestApprovalCoversWhatWasSeen(t *testing.T) { onBoth(t, testApprovalCoversWhatWasSeen) }

func testApprovalCoversWhatWasSeen(t *testing.T, w *world) {
	_, request := w.app()
	w.connect("c2", noon.Add(time.Second))
	w.approve(request)
	all, err := w.grants.List(t.Context())
	if err != nil || len(all) != 1 || len(all[0].Scope) != 1 || all[0].Scope[0].ConnectionID != "c1" {
		t.Errorf("granted %+v, %v", all, err)
	}
}

func TestRegistration(t *testing.T) { onBoth(t, testRegistration) }

func testRegistration(t *testing.T, w *world) {
	for body, want := range map[string]string{
		`{"client_name":"App","redirect_uris":["https://app.example/cb"]}`:                        "",
		`{"client_name":"App","redirect_uris":["http://127.0.0.1:8123/cb","http://[::1]/cb"]}`:    "",
		`{"client_name":"App","redirect_uris":["http://localhost/cb"]}`:                           "",
		`{"client_name":"App","redirect_uris":["http://app.example/cb"]}`:                         "invalid_redirect_uri",
		`{"client_name":"App","redirect_uris":["http://127.0.0.1.evil.example/cb"]}`:              "invalid_redirect_uri",
		`{"client_name":"App","redirect_uris":["https://user@app.example/cb"]}`:                   "invalid_redirect_uri",
		`{"client_name":"App","redirect_uris":["https://app.example/cb#x"]}`:                      "invalid_redirect_uri",
		`{"client_name":"App","redirect_uris":["javascript:alert(1)"]}`:                           "invalid_redirect_uri",
		`{"client_name":"App","redirect_uris":["https:///cb"]}`:                                   "invalid_redirect_uri",
		`{"client_name":"App","redirect_uris":["//app.example/cb"]}`:                              "invalid_redirect_uri",
		`{"client_name":"App","redirect_uris":["https://app.example/\\evil"]}`:                    "invalid_redirect_uri",
		`{"client_name":"App","redirect_uris":[]}`:                                                "invalid_redirect_uri",
		`{"client_name":"","redirect_uris":["https://app.example/cb"]}`:                           "invalid_request",
		`{"client_name":"a\u202eppa","redirect_uris":["https://app.example/cb"]}`:                 "invalid_request",
		`{"client_name":"` + strings.Repeat("x", 81) + `","redirect_uris":["https://a.example"]}`: "invalid_request",
		`nonsense`: "invalid_client_metadata",
	} {
		a := w.register(body)
		if a.Error != want || (a.status == http.StatusCreated) != (want == "") || (a.Client != "") != (want == "") {
			t.Errorf("%s: %d %s, want %q", body, a.status, a.raw, want)
		}
	}
}

func TestAuthorizeAttacks(t *testing.T) { onBoth(t, testAuthorizeAttacks) }

func testAuthorizeAttacks(t *testing.T, w *world) {
	client, request := w.app()
	other, _ := w.app()
	name := url.QueryEscape("urn:ietf:params:oauth:request_uri:" + request)
	for _, query := range []string{
		"client_id=" + client + "&request_uri=" + request, "client_id=" + other + "&request_uri=" +
			name, "request_uri=" + name,
		"client_id=" + client + "&request_uri=" + url.QueryEscape("urn:ietf:params:oauth:request_uri:rq_nobody"),
		"client_id=" + client + "&client_id=" + client + "&request_uri=" + name,
	} {
		if a := w.get("/oauth/authorize?" + query); a.status != 400 || a.Error != "invalid_request" ||
			a.header.Get("Location") != "" {
			t.Errorf("%s: %d %s %s", query, a.status, a.raw, a.header.Get("Location"))
		}
	}
}

func TestMetadata(t *testing.T) {
	w := newWorld(t)
	for path, want := range map[string][]string{
		"/.well-known/oauth-authorization-server": {`"issuer":"https://home.example"`,
			`"pushed_authorization_request_endpoint":"https://home.example/oauth/par"`,
			`"require_pushed_authorization_requests":false`, `"code_challenge_methods_supported":["S256"]`,
			`"client_id_metadata_document_supported":true`,
			`"authorization_details_types_supported":["pdpp"]`},
		"/.well-known/oauth-protected-resource": {`"resource":"https://home.example"`,
			`"authorization_servers":["https://home.example"]`},
		"/.well-known/oauth-protected-resource/mcp": {`"resource":"https://home.example/mcp"`,
			`"authorization_servers":["https://home.example"]`},
	} {
		a := w.get(path)
		for _, part := range want {
			if a.status != 200 || !strings.Contains(a.raw, part) {
				t.Errorf("%s lacks %s: %s", path, part, a.raw)
			}
		}
	}
}
