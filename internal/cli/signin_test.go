package cli

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/quality/oidctest"
)

// tunesHome is a home with a connector that signs in at a provider.
func tunesHome(t *testing.T, provider *oidctest.Server, program string) string {
	t.Helper()
	home := t.TempDir()
	folder := filepath.Join(home, "connectors", "tunes")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	declared := `{"protocol_version":"0.1.0","connector_id":"tunes","version":"1.0.0","display_name":"Tunes",
 "setup":{"modality":"provider_auth","deployment_config":["TUNES_CLIENT_ID","TUNES_CLIENT_SECRET"],
  "oauth":{"authorize_url":"` + provider.URL + `/auth","token_url":"` + provider.URL + `/token",
 "device_url":"` + provider.URL + `/device/auth","access_token_env":"TUNES_ACCESS_TOKEN",
   "client_id_env":"TUNES_CLIENT_ID","client_secret_env":"TUNES_CLIENT_SECRET","rotation":true,
 "authorize_params":{"prompt":"consent"},
   "scopes":[{"name":"openid","label":"Who you are"},{"name":"offline_access","label":"Read while you are away"},
 {"name":"private","label":"Private lists","optional":true}]}},
 "streams":[{"name":"plays","semantics":"append_only","schema":{"type":"object",
 "properties":{"id":{"type":"string"}}},"primary_key":["id"]}]}`
	for name, content := range map[string]string{"manifest.json": declared, "connector": "#!/bin/sh\n" + program} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return home
}

func serveTunes(t *testing.T, provider *oidctest.Server) *served {
	t.Helper()
	return serveLocal(t, map[string]string{"PDPP_OWNER_PASSWORD": servedPassword,
		"PDPP_HOME": tunesHome(t, provider, "exit 1\n")}, "--role", "web")
}

// leave submits the form of the page, and returns the address of the redirect.
func (v *visitor) leave(page string) string {
	v.Helper()
	got := v.post(page, "scope", "private")
	_, to, found := strings.Cut(got.Header.Get("Refresh"), "url=")
	if !found {
		v.Fatalf("the owner is not sent to the provider: %d %s", got.StatusCode, got.body)
	}
	return to
}

func TestSignInAtProvider(t *testing.T) {
	t.Parallel()
	provider := oidctest.Start(t, oidctest.Options{TokenSeconds: 600})
	s := serveTunes(t, provider)
	owner, other := s.signedIn(), s.signedIn()
	made := owner.post("/sources/add/tunes", "display_name", "Tunes", "schedule", "manual")
	page := made.Header.Get("Location")
	if !strings.HasSuffix(page, "/allow") {
		t.Fatalf("a new connection leads to %q: %d %s", page, made.StatusCode, made.body)
	}
	connection := strings.TrimSuffix(page, "/allow")
	if got := owner.post(page, "scope", "private"); !strings.Contains(got.body, "no app at Tunes") ||
		!strings.Contains(got.body, `<details class="inspect after" open>`) {
		t.Errorf("without an app: %d %s", got.StatusCode, got.body)
	}
	if got := owner.post(page+"/app", "client_id", oidctest.ClientID, "client_secret",
		oidctest.ClientSecret); got.Header.Get("Location") != page {
		t.Fatalf("keep the app: %d %s", got.StatusCode, got.body)
	}

	// Before the owner has consented there is no connection: no list has it, and its page leads to the sign-in.
	row := `data-connection="` + strings.TrimPrefix(connection, "/sources/") + `"`
	if got := owner.get("/sources"); got.StatusCode != http.StatusOK || strings.Contains(got.body, row) {
		t.Errorf("it is listed before the consent: %d", got.StatusCode)
	}
	if got := owner.get(connection); got.Header.Get("Location") != page {
		t.Errorf("its page before the consent: %d %s", got.StatusCode, got.Header.Get("Location"))
	}
	if got := owner.post(connection + "/run"); !strings.Contains(got.body, "not connected yet") {
		t.Errorf("a run before the consent: %d %s", got.StatusCode, got.body)
	}

	// Sign-in answers go to this server, whatever address a client sends.
	own, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	forged := s.visitor().with("X-Forwarded-Proto", "https").with("X-Forwarded-Host", "evil.example").with("Host",
		"localhost:1")
	for _, c := range owner.http.Jar.Cookies(own) {
		forged.header.Add("Cookie", c.Name+"="+c.Value)
	}
	ours := s.url + "/oauth/callback"
	for name, v := range map[string]*visitor{"plain": owner, "forged": forged} {
		if got := v.get(page); !strings.Contains(got.body, "<code>"+ours+"</code>") {
			t.Errorf("%s: the page names another return address: %s", name, got.body)
		}
		to, err := url.Parse(v.leave(page))
		if err != nil || to.Query().Get("redirect_uri") != ours {
			t.Errorf("%s: the provider is given %v, %v", name, to, err)
		}
	}

	// A browser that has the page under another name would come back as a stranger.
	named := "localhost:" + own.Port()
	stray := s.visitor().with("Host", named).with("Origin", "http://"+named)
	stray.header["Cookie"] = forged.header["Cookie"]
	if got := stray.post(page, "scope", "private"); got.StatusCode != http.StatusBadRequest ||
		!strings.Contains(got.body, s.url+page) {
		t.Errorf("under another name: %d %s", got.StatusCode, got.body)
	}

	back := provider.Consent(t, owner.leave(page), ours)
	answer := "/oauth/callback?" + back.Encode()
	if got := other.get(answer); got.StatusCode != http.StatusGone ||
		!strings.Contains(got.body, "belongs to another sign-in") {
		t.Errorf("the answer of another session: %d %s", got.StatusCode, got.body)
	}
	if n := provider.Log(t).SignIns; n != 0 {
		t.Errorf("%d codes exchanged for another session", n)
	}
	if got := owner.get(answer); got.Header.Get("Location") != connection {
		t.Fatalf("the owner's answer: %d %s", got.StatusCode, got.body)
	}
	if got := owner.get(answer); got.StatusCode != http.StatusGone {
		t.Errorf("the answer for a second time: %d %s", got.StatusCode, got.body)
	}
	if n := provider.Log(t).SignIns; n != 1 {
		t.Errorf("%d codes exchanged, want 1", n)
	}
	if got := owner.get("/sources"); !strings.Contains(got.body, row) {
		t.Error("it is not listed after the consent")
	}
	if got := owner.get(connection); !strings.Contains(got.body, page) {
		t.Errorf("the connection does not lead to another sign-in")
	}
	if got := owner.get(page); !strings.Contains(got.body, "Signing in again replaces") {
		t.Errorf("the page does not say that there is a sign-in")
	}

	provider.Decline(t, true)
	declined := provider.Consent(t, owner.leave(page), ours)
	if got := owner.get("/oauth/callback?" + declined.Encode()); got.Header.Get("Location") != page {
		t.Errorf("a sign-in that was declined: %d %s", got.StatusCode, got.body)
	}
	s.holdsNone(oidctest.ClientSecret, back.Get("code"), back.Get("state"))
}

// plays is a connector that needs an access token, and keeps one record.
const plays = `read -r start || exit 2
[ -n "$TUNES_ACCESS_TOKEN" ] || exit 3
echo '{"type":"RECORD","stream":"plays","key":"p1","data":{"id":"p1"},"emitted_at":"2026-03-01"}'
echo '{"type":"STATE","stream":"plays","cursor":{"after":1}}'
echo '{"type":"DONE","status":"succeeded","records_emitted":1}'
`

// A consent that was withdrawn at the provider is asked for once, however many runs meet it; the same
// connection then confirms itself with one run, and nothing is asked any more.
func TestWithdrawnConsentIsRepaired(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, vars map[string]string) {
		t.Parallel()
		provider := oidctest.Start(t, oidctest.Options{TokenSeconds: 1}) // each run refreshes
		vars["PDPP_HOME"] = tunesHome(t, provider, plays)
		s := serveLocal(t, vars)
		owner, client := s.signedIn(), api.NewClient(s.url, s.token(), nil)
		page := owner.post("/sources/add/tunes", "display_name", "Tunes", "schedule", "manual").Header.Get("Location")
		owner.post(page+"/app", "client_id", oidctest.ClientID, "client_secret", oidctest.ClientSecret)
		id := strings.TrimSuffix(strings.TrimPrefix(page, "/sources/"), "/allow")
		signIn := func() {
			t.Helper()
			back := provider.Consent(t, owner.leave(page), s.url+api.CallbackPath)
			if got := owner.get(api.CallbackPath + "?" + back.Encode()); got.Header.Get("Location") != "/sources/"+id {
				t.Fatalf("sign in: %d %s", got.StatusCode, got.body)
			}
		}
		ended := func(want ...string) {
			t.Helper()
			until(t, func() bool {
				runs, err := client.Runs(t.Context(), api.RunQuery{ConnectionID: id})
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, r := range slices.Backward(runs) {
					got = append(got, r.Status)
				}
				same := slices.Equal(got, want)
				if !same && (len(got) > len(want) || len(got) == len(want) && !slices.Contains(got, "running")) {
					t.Fatalf("runs ended as %v, want %v\n%s", got, want, s.log)
				}
				return same
			})
		}
		asked := func(want int) {
			t.Helper()
			until(t, func() bool {
				got, err := client.Attention(t.Context(), api.AttentionQuery{})
				if err != nil {
					t.Fatal(err)
				}
				if len(got.Items) > 1 || want == 1 && len(got.Items) == 1 && got.Items[0].Kind != string(verdict.Reauth) {
					t.Fatalf("it asks for %+v", got.Items)
				}
				return len(got.Items) == want
			})
		}
		signIn()
		ended("succeeded")
		asked(0)
		provider.Withdraw(t)
		for i := range 2 { // the second finds it rejected already
			s.later(time.Minute) // a machine that slept: the worker's last heartbeat is older than it may be
			if got := owner.post("/sources/" + id + "/run"); got.StatusCode >= 400 {
				t.Fatalf("run %d: %d %s", i, got.StatusCode, got.body)
			}
			ended([]string{"succeeded", "failed", "failed"}[:i+2]...)
			asked(1)
		}
		if n := provider.Log(t).Refused["invalid_grant"]; n != 1 {
			t.Errorf("the provider refused %d refreshes, want 1", n)
		}
		signIn()
		ended("succeeded", "failed", "failed", "succeeded")
		asked(0)
		d, err := client.Connection(t.Context(), id)
		if err != nil || d.Verdict.Channel == verdict.Attention {
			t.Errorf("afterwards: %+v, %v", d.Verdict, err)
		}
		ended("succeeded", "failed", "failed", "succeeded")
	})
}

var (
	link = regexp.MustCompile(`\n  (http://\S+)\n`)
	code = regexp.MustCompile(`Open (\S+) on any device and enter the code (\S+)\n`)
)

// seen waits until a command has printed the text.
func seen(t *testing.T, printed *lines, what *regexp.Regexp, over <-chan int) []string {
	t.Helper()
	for {
		if found := what.FindStringSubmatch(printed.String()); found != nil {
			return found
		}
		select {
		case code := <-over:
			t.Fatalf("it ended with %d: %s", code, printed)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func TestConnectSignsIn(t *testing.T) {
	t.Parallel()
	provider := oidctest.Start(t, oidctest.Options{TokenSeconds: 600})
	s := serveTunes(t, provider)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(oidctest.ClientSecret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	connect := func(args ...string) (*lines, <-chan int) {
		reported, over := &lines{}, make(chan int, 1)
		env, _, _ := testEnvironment(t, s.vars, append([]string{"connect", "tunes", "--no-wait"}, args...)...)
		env.Stdout, env.Stderr, env.Now = reported, reported, s.now
		go func() { over <- Main(env) }()
		return reported, over
	}
	ended := func(said *lines, over <-chan int) {
		t.Helper()
		if code := <-over; code != failure.ExitOK || !strings.Contains(said.String(), "Tunes said yes.") {
			t.Errorf("it ended with %d: %s", code, said)
		}
	}

	said, over := connect("--app-id", oidctest.ClientID, "--app-secret", secret)
	address, err := url.Parse(seen(t, said, link, over)[1])
	if err != nil {
		t.Fatal(err)
	}
	redirect := address.Query().Get("redirect_uri")
	back := provider.Consent(t, address.String(), redirect)
	for _, visit := range []struct {
		query  url.Values
		status int
	}{{url.Values{"state": {"of another sign-in"}, "code": {"x"}}, http.StatusNotFound}, {back, http.StatusOK}} {
		resp, err := http.Get(redirect + "?" + visit.query.Encode())
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != visit.status {
			t.Errorf("the port of the command answers %d, want %d", resp.StatusCode, visit.status)
		}
	}
	ended(said, over)

	said, over = connect("--code")
	shown := seen(t, said, code, over)
	provider.Enter(t, shown[1], shown[2])
	ended(said, over)
	if n := provider.Log(t).SignIns; n != 2 {
		t.Errorf("%d sign-ins at the provider, want 2", n)
	}

	provider.Decline(t, true)
	said, over = connect("--name", "Declined tunes")
	if address, err = url.Parse(seen(t, said, link, over)[1]); err != nil {
		t.Fatal(err)
	}
	redirect = address.Query().Get("redirect_uri")
	resp, err := http.Get(redirect + "?" + provider.Consent(t, address.String(), redirect).Encode())
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if code := <-over; code == failure.ExitOK {
		t.Errorf("a sign-in that was declined ended with %d: %s", code, said)
	}
	if got := s.signedIn().get("/_ref/connections/cin_tunes_3"); got.StatusCode != http.StatusNotFound {
		t.Errorf("a sign-in that was declined leaves %d %s", got.StatusCode, got.body)
	}
	s.holdsNone(oidctest.ClientSecret, back.Get("code"), back.Get("state"))
}

// until asks again until something has happened.
func until(t *testing.T, happened func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !happened(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it never happened")
		}
	}
}
