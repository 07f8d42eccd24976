package consoletest

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// app is a third-party program that requests a grant.
type app struct {
	t        *testing.T
	server   string // the server that holds the records
	back     string
	id       string
	verifier string
	landed   chan url.Values // what the owner's browser brought back
}

func newApp(t *testing.T, server string) *app {
	a := &app{t: t, server: server, verifier: rand.Text() + rand.Text(), landed: make(chan url.Values, 1)}
	own := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/back" {
			a.landed <- r.URL.Query()
			_, _ = io.WriteString(w, "Welcome back")
		}
	}))
	t.Cleanup(own.Close)
	a.back = own.URL + "/back"
	var registered struct {
		ID string `json:"client_id"`
	}
	body, err := json.Marshal(map[string]any{"client_name": "Mole & Sons <reader>", "redirect_uris": []string{a.back}})
	if err != nil {
		t.Fatal(err)
	}
	a.post("/oauth/register", "application/json", string(body), &registered)
	a.id = registered.ID
	return a
}

// post sends what an app sends, and reads the answer.
func (a *app) post(path, kind, body string, into any) {
	a.t.Helper()
	resp, err := http.Post(a.server+path, kind, strings.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode >= 300 || json.Unmarshal(answer, into) != nil {
		a.t.Fatalf("POST %s: %d, %v, %s", path, resp.StatusCode, err, answer)
	}
}

const formKind = "application/x-www-form-urlencoded"

// ask pushes a request and returns the address to send the owner to.
func (a *app) ask() string {
	a.t.Helper()
	digest := sha256.Sum256([]byte(a.verifier))
	var pushed struct {
		URI string `json:"request_uri"`
	}
	a.post("/oauth/par", formKind, url.Values{
		"client_id": {a.id}, "response_type": {"code"}, "redirect_uri": {a.back}, "state": {"s-1"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(digest[:])}, "code_challenge_method": {"S256"},
		"authorization_details": {`[{"type":"pdpp","purpose":"Shows your letters","streams":[{"name":"letters",` +
			`"fields":["subject","received_at"]}]}]`},
	}.Encode(), &pushed)
	return "/oauth/authorize?" + url.Values{"client_id": {a.id}, "request_uri": {pushed.URI}}.Encode()
}

// consent: an app asks, the owner sees who wants what, allows it, and the app reads exactly
// that. Another time the owner declines.
func consent(t *testing.T, h *house) {
	b := h.signIn(t)
	b.visit("/sources")
	b.until(`[...document.querySelectorAll("[data-connection]")].some(e => e.innerText.includes("Letters"))`)
	a := newApp(t, h.ready.URL)
	b.visit(a.ask())
	b.until(`location.pathname.startsWith("/sharing/allow/")`)
	page := b.text("main")
	for _, message := range []string{"Mole & Sons <reader>", "Shows your letters",
		strings.TrimPrefix(strings.TrimSuffix(a.back, "/back"), "http://")} {
		if !strings.Contains(page, message) {
			t.Errorf("the page does not contain %q:\n%s", message, page)
		}
	}
	b.shoot("consent")
	b.click(`button[value=approve]`)
	got := <-a.landed
	if got.Get("state") != "s-1" || got.Get("code") == "" {
		t.Fatalf("the app got %v", got)
	}
	var token struct {
		Access string `json:"access_token"`
	}
	a.post("/oauth/token", formKind, url.Values{"grant_type": {"authorization_code"}, "code": {got.Get("code")},
		"redirect_uri": {a.back},
		"client_id":    {a.id}, "code_verifier": {a.verifier}}.Encode(), &token)
	status, body := client{t: t, base: h.ready.URL, token: token.Access}.get("/v1/streams/letters/records")
	if status != http.StatusOK || !strings.Contains(body, "Invitation to the boat race") ||
		strings.Contains(body, "Nadia Ferrante") {
		t.Errorf("the app reads %d: %s", status, body)
	}
	b.visit(a.ask())
	b.until(`location.pathname.startsWith("/sharing/allow/")`)
	b.click(`button[value=deny]`)
	if got := <-a.landed; got.Get("error") != "access_denied" || got.Get("code") != "" {
		t.Errorf("after declining the app got %v", got)
	}
	b.quiet()
}
