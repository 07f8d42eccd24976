package serve

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// courierManifest is that of a foreign connector with a sign-in at a provider.
const courierManifest = `{"protocol_version":"0.1.0","connector_id":"courier","version":"1.0.0",` +
	`"display_name":"Courier",
"setup":{"modality":"provider_auth","deployment_config":["COURIER_APP","COURIER_SECRET"],` +
	`"oauth":{"authorize_url":"TOKENS","token_url":"TOKENS",
 "access_token_env":"COURIER_TOKEN","client_id_env":"COURIER_APP","client_secret_env":"COURIER_SECRET"}},
"capabilities":{"refresh_policy":{"recommended_mode":"automatic","rationale":"It is cheap.",` +
	`"maximum_staleness_seconds":86400}},
"streams":[{"name":"letters","semantics":"mutable_state","primary_key":"id","required":true,` +
	`"schema":{"type":"object","properties":{"id":{"type":"string"}}}}]}`

// courierConnector tries to change what the server reads of it, keeps a file where it may, and asks for
// a fresh token. It counts as its records what it was able to change.
const courierConnector = `#!/bin/sh
read -r start
dir=$(dirname "$0")
n=0
say() { printf '{"type":"RECORD","stream":"letters","key":"%s","data":{"id":"%s"},"emitted_at":"2026-01-02T03:04:05Z"}\n' "$1" "$1"; n=$((n+1)); }
try() { if sh -c "$2" 2>/dev/null; then say "$1"; fi; }
try manifest "echo x >> $dir/manifest.json"
try program "echo x >> $dir/connector"
try adapter "echo x > $dir/adapter.json"
try beside "echo x > $dir/module.py"
try rename "mv $dir/manifest.json $dir/data/manifest.json"
try data "echo x > $PDPP_CONNECTOR_DATA_DIR/kept"
printf '%s\n' '{"type":"CREDENTIAL_REQUEST","request_id":"c1","reason":"expired"}'
read -r answer
printf '%s\n' '{"type":"STATE","stream":"letters","cursor":{"n":1}}'
printf '{"type":"DONE","status":"succeeded","records_emitted":%d}\n' $n
`

// post is a token endpoint that keeps what it is sent.
type post struct {
	*httptest.Server
	mu  sync.Mutex
	got []string
}

func newPost(t *testing.T) *post {
	p := &post{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.got = append(p.got, string(body)+" "+r.Header.Get("Authorization"))
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"access_token":"access-%d","token_type":"Bearer","expires_in":3600,"refresh_token":"refresh-%d"}`,
			len(p.got), len(p.got))
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *post) received() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string{}, p.got...)
}

// A foreign connector changes neither its program nor its manifest while it runs. When another program has
// changed the manifest, nothing is sent to the addresses that it names, no run starts, and the owner reads
// that it has to be confirmed again; so it is when its files cannot be used, or when it names a variable
// of another program as the registration of its app.
func TestTokensGoWhereTheOwnerConfirmed(t *testing.T) {
	honest, thief := newPost(t), newPost(t)
	onBoth(t, func(g *ground) {
		g.install("courier", strings.ReplaceAll(courierManifest, "TOKENS", honest.URL), courierConnector)
		g.connect("cin_courier", "courier")
		g.config.Lookup = func(name string) (string, bool) {
			value, ok := map[string]string{"COURIER_APP": "app", "COURIER_SECRET": "app-secret",
				"AWS_SECRET_ACCESS_KEY": "aws-secret"}[name]
			return value, ok
		}
		now := time.Now()
		ends := now.Add(time.Hour)
		tokens := credential.Tokens{Access: credential.NewSecret("access-0"), Refresh: credential.NewSecret("refresh-0"),
			Lifetime: time.Hour}
		g.must(g.st.PutCredential(g.t.Context(), store.Credential{ConnectionID: "cin_courier", Kind: "access_token",
			Sealed: tokens.SealFor(g.key, "cin_courier"),
			Status: store.CredentialActive, CapturedAt: now, Refresh: store.Refresh{Renewable: true, ExpiresAt: &ends}}))
	}, func(t *testing.T, g *ground) {
		request := func() {
			t.Helper()
			_, err := g.st.RequestRun(t.Context(), store.RunRequest{ConnectionID: "cin_courier", Trigger: store.TriggerManual,
				RequestedAt: time.Now()})
			g.must(err)
		}
		ended := func() []store.Run {
			runs, err := g.st.ListRuns(t.Context(), store.RunQuery{ConnectionID: "cin_courier"})
			g.must(err)
			for _, r := range runs {
				if r.CompletedAt == nil {
					return nil
				}
			}
			return runs
		}
		path := filepath.Join(g.dir, "courier", "manifest.json")
		was, err := os.ReadFile(path)
		g.must(err)
		request()
		g.until("it ran", func() bool { return len(ended()) == 1 })
		if runs := ended(); runs[0].Status != store.RunSucceeded {
			t.Fatalf("the run %s: %s", runs[0].Status, runs[0].Error)
		}
		page, err := g.st.ListRecords(t.Context(),
			store.RecordQuery{AccessFilter: store.AccessFilter{ConnectionID: "cin_courier", Stream: "letters"}, Limit: 100})
		g.must(err)
		var changed []string
		for _, r := range page {
			changed = append(changed, r.Key)
		}
		if got := strings.Join(changed, " "); got != "data" {
			t.Errorf("it was able to change: %s", got)
		}
		if now, err := os.ReadFile(path); err != nil || string(now) != string(was) {
			t.Errorf("its manifest is another: %v", err)
		}
		sent := len(honest.received())

		seen := func(reason string) func() bool {
			return func() bool {
				for _, c := range g.seen("cin_courier").Health.Conditions {
					if c.Reason == reason {
						return true
					}
				}
				return false
			}
		}
		for name, text := range map[string]string{
			"its tokens go elsewhere": strings.ReplaceAll(courierManifest, "TOKENS", thief.URL),
			"only the name differs":   strings.Replace(string(was), `"Courier"`, `"Kurier"`, 1),
		} {
			runs := len(ended())
			g.must(os.WriteFile(path, []byte(text), 0o600))
			request()
			g.until(name+": a run was refused", func() bool { return len(ended()) == runs+1 })
			for _, r := range ended() {
				if r.Status != store.RunSucceeded && r.FailureReason != "connector_unconfirmed" {
					t.Errorf("%s: the run %s: %s", name, r.Status, r.FailureReason)
				}
			}
			g.until(name+": the owner reads it", seen("connector_unconfirmed"))
			if v := g.seen("cin_courier").Verdict; v.Pill.Tone == "green" {
				t.Errorf("%s: %+v", name, v)
			}
		}
		if got := thief.received(); len(got) > 0 {
			t.Errorf("another address received %q", got)
		}
		if got := honest.received(); len(got) != sent {
			t.Errorf("the provider received %q of runs that were refused", got[sent:])
		}

		g.must(os.WriteFile(path, []byte(strings.ReplaceAll(strings.Replace(courierManifest, `"client_id_env":"COURIER_APP"`,
			`"client_id_env":"AWS_SECRET_ACCESS_KEY"`, 1),
			`["COURIER_APP",`, `["AWS_SECRET_ACCESS_KEY",`)), 0o600))
		request()
		g.until("the owner reads that its files cannot be used", seen("connector_unusable"))

		g.must(os.WriteFile(path, was, 0o600))
		confirmed(t, g.st, g.dir, "courier")
		runs := len(ended())
		request()
		g.until("it runs again", func() bool {
			all := ended()
			return len(all) > runs &&
				all[0].Status == store.RunSucceeded
		})
		g.until("nothing is held against it",
			func() bool { return !seen("connector_unconfirmed")() && !seen("connector_unusable")() })
	})
}
