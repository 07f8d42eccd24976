//pdpp:tier programs

package assistanttest

import (
	"bufio"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// reply is an answer of the server to an app.
type reply struct {
	status int
	header http.Header
	text   string
	body   map[string]any
}

// send sends a request of an app, which follows no redirect.
func (d *demonstration) send(t *testing.T, method, path, body string, headers ...string) (a reply) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, d.URL+path, strings.NewReader(body))
	check(t, err)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	check(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	check(t, err)
	_ = json.Unmarshal(text, &a.body)
	a.status, a.header, a.text = answer.StatusCode, answer.Header, string(text)
	return a
}

const (
	back     = "http://127.0.0.1:1/back" // no browser gets there
	verifier = "a-verifier-that-is-long-enough-to-be-one-0123456789"
	initial  = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
)

func (d *demonstration) register(t *testing.T, more string, addresses ...string) string {
	t.Helper()
	list, err := json.Marshal(addresses)
	check(t, err)
	a := d.send(t, "POST", "/oauth/register", fmt.Sprintf(`{"client_name":"Assistant","redirect_uris":%s%s}`, list, more),
		"Content-Type", "application/json")
	id, _ := a.body["client_id"].(string)
	if a.status != http.StatusCreated || id == "" {
		t.Fatalf("registered: %d %s", a.status, a.text)
	}
	return id
}

// question returns the address of a request that is not pushed.
func (d *demonstration) question(client string, change ...string) string {
	sum := sha256.Sum256([]byte(verifier))
	q := url.Values{"client_id": {client}, "response_type": {"code"}, "redirect_uri": {back}, "state": {"s"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
		"resource": {d.URL + "/mcp"}}
	for i := 0; i < len(change); i += 2 {
		q.Set(change[i], change[i+1])
	}
	return "/oauth/authorize?" + q.Encode()
}

// authorization asks the shipped server for each part of OAuth that apps of the Model Context Protocol need.
func (d *demonstration) authorization(t *testing.T) {
	client := d.register(t, "", back)
	// failed returns the error that an app receives at its own address, or from the server.
	failed := func(t *testing.T, a reply) string {
		at, err := url.Parse(a.header.Get("Location"))
		check(t, err)
		if code := at.Query().Get("error"); code != "" {
			return code
		}
		code, _ := a.body["error"].(string)
		return code
	}
	exchanged := func(t *testing.T, code, resource string) reply {
		return d.send(t, "POST", "/oauth/token", url.Values{"grant_type": {"authorization_code"}, "code": {code},
			"redirect_uri": {back}, "client_id": {client}, "code_verifier": {verifier}, "resource": {resource}}.Encode(),
			"Content-Type", "application/x-www-form-urlencoded")
	}
	metadata := d.send(t, "GET", "/.well-known/oauth-authorization-server", "").body
	for name, test := range map[string]func(t *testing.T){
		"1 protected resource metadata": func(t *testing.T) {
			a := d.send(t, "POST", "/mcp", initial, "Content-Type", "application/json")
			address := d.URL + "/.well-known/oauth-protected-resource/mcp"
			if want := `Bearer resource_metadata="` + address + `"`; a.status != 401 ||
				a.header.Get("WWW-Authenticate") != want {
				t.Errorf("the challenge is %d %s", a.status, a.header.Get("WWW-Authenticate"))
			}
			about := d.send(t, "GET", strings.TrimPrefix(address, d.URL), "").body
			if about["resource"] != d.URL+"/mcp" || fmt.Sprint(about["authorization_servers"]) != "["+d.URL+"]" {
				t.Errorf("the resource is %v", about)
			}
		},
		"2 resource indicators": func(t *testing.T) {
			if got := failed(t, d.send(t, "GET", d.question(client, "resource", "https://other.example/mcp"), "")); got !=
				"invalid_target" {
				t.Errorf("another resource: %q", got)
			}
			code := d.approve(t, d.URL+d.question(client)).Get("code")
			if got := failed(t, exchanged(t, code, d.URL)); got != "invalid_target" {
				t.Errorf("a token for another resource: %q", got)
			}
			token, _ := exchanged(t, code, d.URL+"/mcp").body["access_token"].(string)
			here := d.send(t, "POST", "/mcp", initial, "Authorization", "Bearer "+token, "Content-Type", "application/json",
				"Accept", "application/json, text/event-stream")
			elsewhere := d.send(t, "GET", "/v1/streams", "", "Authorization", "Bearer "+token)
			if here.status != 200 || elsewhere.status != 401 {
				t.Errorf("here %d, elsewhere %d", here.status, elsewhere.status)
			}
		},
		"3 requests that are not pushed": func(t *testing.T) {
			if metadata["require_pushed_authorization_requests"] != false ||
				fmt.Sprint(metadata["code_challenge_methods_supported"]) != "[S256]" {
				t.Errorf("the metadata are %v", metadata)
			}
			if a := d.send(t, "GET", d.question(client), ""); !strings.HasPrefix(a.header.Get("Location"), "/sharing/allow/") {
				t.Errorf("a request: %d %s", a.status, a.header.Get("Location"))
			}
			for name, change := range map[string][]string{"without a challenge": {"code_challenge", ""},
				"a plain one": {"code_challenge_method", "plain"}} {
				if got := failed(t, d.send(t, "GET", d.question(client, change...), "")); got != "invalid_request" {
					t.Errorf("%s: %q", name, got)
				}
			}
			pushing := d.register(t, `,"require_pushed_authorization_requests":true`, back)
			if got := failed(t, d.send(t, "GET", d.question(pushing), "")); got != "invalid_request" {
				t.Errorf("of an app that pushes: %q", got)
			}
		},
		"4 client metadata documents": func(t *testing.T) {
			if metadata["client_id_metadata_document_supported"] != true {
				t.Errorf("the metadata are %v", metadata)
			}
			// A document is on a public address; TestClientDocument serves one.
			reached := make(chan string, 1)
			own := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				reached <- r.URL.Path
			}))
			defer own.Close()
			a := d.send(t, "GET", d.question(own.URL+"/client.json"), "")
			if a.status < 400 || len(reached) > 0 {
				t.Errorf("a document on this machine: %d %s, reached %d times", a.status, a.text, len(reached))
			}
		},
		"5 dynamic registration": func(t *testing.T) {
			if metadata["registration_endpoint"] != d.URL+"/oauth/register" {
				t.Errorf("the metadata are %v", metadata)
			}
			d.register(t, `,"application_type":"native","token_endpoint_auth_method":"none","grant_types":`+
				`["authorization_code","refresh_token"],"scope":"anything"`, back)
			a := d.send(t, "POST", "/oauth/register", `{"client_name":"x","redirect_uris":["http://app.example/back"]}`,
				"Content-Type", "application/json")
			if got := failed(t, a); got != "invalid_redirect_uri" {
				t.Errorf("an address without TLS: %q", got)
			}
		},
		"6 no refresh tokens": func(t *testing.T) {
			code := d.approve(t, d.URL+d.question(client))
			a := exchanged(t, code.Get("code"), d.URL+"/mcp")
			life, _ := a.body["expires_in"].(float64)
			if days := time.Duration(life) * time.Second / (24 * time.Hour); a.body["refresh_token"] != nil || days != 89 ||
				code.Get("iss") != d.URL {
				t.Errorf("issued for %d days by %s: %s", days, code.Get("iss"), a.text)
			}
			token, _ := a.body["access_token"].(string)
			d.send(t, "POST", "/oauth/revoke", url.Values{"token": {token}}.Encode(), "Content-Type",
				"application/x-www-form-urlencoded")
			if a := d.send(t, "POST", "/mcp", initial, "Authorization", "Bearer "+token); a.status != 401 {
				t.Errorf("after it was revoked: %d", a.status)
			}
		},
		"7 other origins": func(t *testing.T) {
			for path, method := range map[string]string{"/.well-known/oauth-authorization-server": "GET",
				"/.well-known/oauth-protected-resource": "GET", "/.well-known/oauth-protected-resource/mcp": "GET",
				"/oauth/token": "POST", "/oauth/register": "POST", "/mcp": "POST", "/v1/streams": "", "/_ref/connectors": ""} {
				a := d.send(t, "OPTIONS", path, "", "Origin", "https://app.example", "Access-Control-Request-Method", "POST",
					"Access-Control-Request-Headers", "authorization,mcp-protocol-version,content-type")
				want := map[bool]string{true: "*"}[method != ""]
				allowed := strings.ToLower(a.header.Get("Access-Control-Allow-Headers"))
				if got := a.header.Get("Access-Control-Allow-Origin"); got != want || want != "" &&
					(!strings.Contains(allowed, "authorization") || !strings.Contains(allowed, "mcp-protocol-version")) {
					t.Errorf("%s: %q %s", path, got, allowed)
				}
			}
			r, err := http.NewRequestWithContext(t.Context(), "POST", d.URL+"/mcp", strings.NewReader(initial))
			check(t, err)
			r.Host = "evil.example"
			answer, err := http.DefaultTransport.RoundTrip(r)
			check(t, err)
			check(t, answer.Body.Close())
			if answer.StatusCode < 400 || answer.StatusCode == 401 {
				t.Errorf("under another name the server answers %d", answer.StatusCode)
			}
		},
		"8 consent": func(t *testing.T) {
			_, ours, _ := strings.Cut(d.page(t, d.question(client)), `data-stream="bookings"`)
			ours, _, _ = strings.Cut(ours, "data-stream=")
			for _, part := range []string{" now, and new ones", "data-sample", "<dt>Payee</dt>", "<dt>Amount</dt>"} {
				if !strings.Contains(ours, part) {
					t.Errorf("there is no %q in %s", part, ours)
				}
			}
			if strings.Contains(ours, " checked") {
				t.Error("a stream is ticked that nobody has asked for")
			}
		},
	} {
		t.Run(name, test)
	}
	t.Run("official suite", d.officialAuthorization)
}

// page returns what the signed-in owner sees at an address.
func (d *demonstration) page(t *testing.T, address string) string {
	t.Helper()
	jar, err := cookiejar.New(nil)
	check(t, err)
	browser := &http.Client{Jar: jar}
	signed, err := browser.PostForm(d.URL+"/login", url.Values{"password": {d.Password}})
	check(t, err)
	check(t, signed.Body.Close())
	answer, err := browser.Get(d.URL + address)
	check(t, err)
	defer answer.Body.Close()
	page, err := io.ReadAll(answer.Body)
	check(t, err)
	return string(page)
}

// officialAuthorization runs the official suite for authorization servers.
func (d *demonstration) officialAuthorization(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	_, port, err := net.SplitHostPort(l.Addr().String())
	check(t, err)
	check(t, l.Close())
	client := d.register(t, "", "http://127.0.0.1:"+port+"/callback")
	c := node(t, filepath.Join(modules(t), "@modelcontextprotocol", "conformance", "dist", "index.js"), "authorization",
		"--url", d.URL, "--client-id", client, "--resource", d.URL+"/mcp", "--port", port)
	out, err := c.StdoutPipe()
	check(t, err)
	c.Stderr = c.Stdout
	check(t, c.Start())
	var log strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		line := lines.Text()
		fmt.Fprintln(&log, line)
		if strings.HasPrefix(line, d.URL+"/oauth/authorize?") {
			answer, err := http.Get("http://127.0.0.1:" + port + "/callback?" + d.approve(t, line).Encode())
			check(t, err)
			check(t, answer.Body.Close())
		}
	}
	if err := c.Wait(); err != nil {
		t.Errorf("the suite ended with %v:\n%s", err, log.String())
	}
	t.Attr("result", totals.FindString(log.String()))
}
