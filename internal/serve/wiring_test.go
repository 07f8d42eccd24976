package serve

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/webhook"
	"github.com/pdpp-go/pdpp/internal/schedule/notify"
	"github.com/pdpp-go/pdpp/internal/storage/audit"
	"github.com/pdpp-go/pdpp/internal/web/auth"
)

// hook is a webhook that reports what arrives.
type hook chan string

func (h hook) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	h <- string(body)
	return &http.Response{StatusCode: http.StatusNoContent, Body: http.NoBody, Request: r}, err
}

// The parts of a server are connected. A new connection collects with its credential, apps find the server and read
// what they were granted, notifications are sent, the audit trail is written, and forms ask for confirmation. The owner
// is notified of a webhook that its receiver ended.
func TestPartsOfAServerMeet(t *testing.T) {
	var guard *auth.Auth
	pushes := make(hook, 10)
	onBoth(t, func(g *ground) {
		var err error
		g.config.Listener, err = net.Listen("tcp", "127.0.0.1:0")
		g.must(err)
		g.config.Metrics, err = net.Listen("tcp", "127.0.0.1:0")
		g.must(err)
		g.config.Audit = audit.New(audit.Config{Store: g.st, Now: time.Now})
		g.config.HTTP = &http.Client{Transport: pushes}
		g.config.VAPID = notify.VAPID{Public: "BPublic"}
		g.config.Worker.Version, g.config.Home = "1.2.3", "/home/mara/.pdpp"
		guard = auth.New(auth.Config{Store: g.st, Now: time.Now, HashCost: auth.HashCost{MemoryKiB: 8, Passes: 1}})
		g.config.Auth = guard
		g.install("garden", gardenManifest, gardenConnector)
	}, func(t *testing.T, g *ground) {
		base := "http://" + g.config.Listener.Addr().String()
		_, err := guard.Setup(t.Context(), "a lantern over the harbour")
		g.must(err)
		_, token, err := guard.CreateToken(t.Context(), auth.NewToken{Label: "laptop", Scopes: []string{"all"}})
		g.must(err)
		client := api.NewClient(base, token, nil)
		confirmed(t, g.st, g.dir, "garden")

		made, err := client.Connect(t.Context(),
			api.Connect{ConnectorID: "garden", DisplayName: "Garden", Fields: map[string]string{"token": "trowel"}})
		g.must(err)
		g.until("it has collected", func() bool {
			d, err := client.Connection(t.Context(), made.ID)
			g.must(err)
			return d.LastSuccessAt != nil
		})
		runtime, err := client.Runtime(t.Context())
		g.must(err)
		if runtime.Version != "1.2.3" || runtime.Home != "/home/mara/.pdpp" || runtime.VAPIDKey != "BPublic" ||
			runtime.StartedAt.IsZero() {
			t.Errorf("the server says of itself %+v", runtime)
		}
		_, granted, err := client.CreateGrant(t.Context(),
			api.NewGrant{ClientName: "Almanac", Purpose: "A test", Mode: "continuous",
				GrantEnd: api.GrantEnd{NeverExpires: true},
				Streams:  []api.GrantStream{{ConnectionID: made.ID, Stream: "beds"}}})
		g.must(err)
		_, err = client.AddPushTarget(t.Context(),
			api.NewPushTarget{Kind: "webhook", Endpoint: "https://hook.lantern.example/pdpp", Secret: "a secret of the hook"})
		g.must(err)
		_, err = client.TestPush(t.Context(), "")
		g.must(err)
		if got := <-pushes; !strings.Contains(got, "test") {
			t.Errorf("the push says %s", got)
		}

		ask := func(method, address, bearer string, form url.Values) (int, string) {
			t.Helper()
			r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(form.Encode()))
			g.must(err)
			if form != nil {
				r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				r.Header.Set("Origin", base)
			}
			if bearer != "" {
				r.Header.Set("Authorization", "Bearer "+bearer)
			}
			answer, err := http.DefaultTransport.RoundTrip(r)
			g.must(err)
			defer answer.Body.Close()
			body, err := io.ReadAll(answer.Body)
			g.must(err)
			return answer.StatusCode, string(body)
		}
		for _, c := range []struct {
			method, address, bearer string
			form                    url.Values
			code                    int
			texts                   []string
		}{
			{"GET", base + "/openapi.json", "", nil, 200, []string{`"openapi"`}},
			{"GET", base + "/.well-known/oauth-authorization-server", "", nil, 200, []string{`"issuer":"` + base + `"`}},
			{"GET", base + "/v1/streams/beds/records", granted, nil, 200, []string{`"b1"`}},
			{"GET", base + "/v1/streams/beds/records?connection_id=" + made.ID, token, nil, 200, []string{`"b1"`}},
			{"GET", base + "/v1/streams/beds/records", "pdpp_gt_" + "none", nil, 401, nil},
			{"POST", base + "/introspect", token, url.Values{"token": {granted}}, 200, []string{`"active":true`}},
			{"POST", base + "/introspect", token, url.Values{"token": {token}}, 200, []string{`"pdpp_token_kind":"owner"`}},
			{"GET", base + "/login?next=%2Fsharing", "", nil, 200, []string{`action="/login"`, `value="/sharing"`}},
			{"POST", base + "/login", "", url.Values{"password": {"wrong"}, "next": {"/sharing"}}, 401,
				[]string{`role="alert"`, `value="/sharing"`}},
			{"GET", base + "/metrics", "", nil, 401, nil},
			{"GET", base + "/metrics", token, nil, 200,
				[]string{`pdpp_slices_committed_total{connector="garden"}`, `version="1.2.3"`}},
			{"GET", "http://" + g.config.Metrics.Addr().String() + "/metrics", "", nil, 200,
				[]string{`pdpp_slices_committed_total{connector="garden"}`}},
			{"GET", "http://" + g.config.Metrics.Addr().String() + "/readyz", "", nil, 200, []string{`"scheduler"`}},
		} {
			code, body := ask(c.method, c.address, c.bearer, c.form)
			if code != c.code {
				t.Errorf("%s %s answered %d: %.200s", c.method, c.address, code, body)
			}
			for _, words := range c.texts {
				if !strings.Contains(strings.ReplaceAll(body, `": `, `":`), words) {
					t.Errorf("%s %s does not say %s: %.300s", c.method, c.address, words, body)
				}
			}
		}
		trail, err := client.Audit(t.Context(), api.AuditQuery{Limit: 100})
		g.must(err)
		kinds := map[string]int{}
		for _, e := range trail.Entries {
			kinds[e.Kind]++
		}
		for _, kind := range []audit.ActionKind{audit.Read, audit.GrantMake} {
			if kinds[string(kind)] == 0 {
				content, _ := json.Marshal(kinds)
				t.Errorf("no %s in the trail: %s", kind, content)
			}
		}

		gone := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusGone)
		}))
		defer gone.Close()
		_, _, err = client.AddWebhook(t.Context(), webhook.NewWebhook{Address: gone.URL, Name: "Ledger", Local: true,
			Since: webhook.Beginning})
		g.must(err)
		for got := ""; !strings.Contains(got, "webhook_paused"); {
			got = <-pushes // after others, if there are any
		}
	})
}
