package sample_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"testing"

	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/sample"
)

// fataler is what testing.T and rapid.T share.
type fataler interface {
	Helper()
	Fatalf(string, ...any)
	Cleanup(func())
}

// client reads one account over real HTTP, or by asking its handler.
type client struct {
	sim   *sample.Lumen
	do    func(*http.Request) (*http.Response, error)
	url   string
	token string
}

func setup(t fataler, cfg sample.Config) client {
	t.Helper()
	sim := sample.New(cfg)
	srv := httptest.NewServer(sim.Handler())
	t.Cleanup(srv.Close)
	return client{sim, http.DefaultClient.Do, srv.URL, sim.Token()}
}

// direct asks the handler itself, for properties of what is answered: a case of one is
// cheaper than a connection.
func direct(cfg sample.Config) client {
	sim := sample.New(cfg)
	handler := sim.Handler()
	return client{sim, func(r *http.Request) (*http.Response, error) {
		w := httptest.NewRecorder()
		arrived := httptest.NewRequest(r.Method, r.URL.String(), r.Body)
		arrived.Header = r.Header
		handler.ServeHTTP(w, arrived)
		return w.Result(), nil
	}, "http://lumen.test", sim.Token()}
}

func (c client) raw(t fataler, method, path, authorization string) (int, []byte) {
	t.Helper()
	req, err := http.NewRequest(method, c.url+path, nil)
	if err != nil {
		t.Fatalf("%v", err)
	}
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	resp, err := c.do(req)
	if err != nil {
		t.Fatalf("%v", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return resp.StatusCode, body
}

// get reads path with a good token into out, which must answer 200.
func (c client) get(t fataler, path string, q url.Values, out any) {
	t.Helper()
	status, body := c.raw(t, http.MethodGet, path+"?"+q.Encode(), "Bearer "+c.token)
	if status != http.StatusOK {
		t.Fatalf("%s?%s: %d %s", path, q.Encode(), status, body)
	}
	if err := json.Unmarshal(body, out); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// refusal returns status and code of a request that must fail.
func (c client) refusal(t fataler, method, path, authorization string) (int, string) {
	t.Helper()
	status, body := c.raw(t, method, path, authorization)
	var e struct{ Error struct{ Code string } }
	if err := json.Unmarshal(body, &e); err != nil {
		t.Fatalf("%s: %d %s: %v", path, status, body, err)
	}
	return status, e.Error.Code
}

func (c client) fault(t fataler, f providersim.Fault) {
	t.Helper()
	if _, err := c.sim.Gate().Add(f); err != nil {
		t.Fatalf("%v", err)
	}
}

func limit(n int) url.Values { return url.Values{"limit": {strconv.Itoa(n)}} }

func key(t fataler, data json.RawMessage) string {
	t.Helper()
	var item struct{ ID string }
	if err := json.Unmarshal(data, &item); err != nil || item.ID == "" {
		t.Fatalf("item without an id: %s (%v)", data, err)
	}
	return item.ID
}

// live returns the items of a stream that are not tombstones.
func live(sim *sample.Lumen, stream string) map[string]string {
	out := map[string]string{}
	for k, item := range sim.Truth()[stream] {
		if !item.Deleted {
			out[k] = string(item.Data)
		}
	}
	return out
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	c := setup(t, sample.Config{Seed: 3, Events: 5, Notes: 5, Threads: 5, Token: "good"})
	const auth = "Bearer good"
	var events struct {
		Next string `json:"next_cursor"`
	}
	c.get(t, "/v1/events", limit(2), &events)
	cases := []struct {
		method, path, authorization string
		status                      int
		code                        string
	}{
		{"GET", "/v1/me", "", 401, "token_missing"},
		{"GET", "/v1/me", "good", 401, "token_missing"},
		{"GET", "/v1/me", "Basic good", 401, "token_missing"},
		{"GET", "/v1/events", "Bearer other", 401, "token_revoked"},
		{"GET", "/v1/events?limit=201", auth, 400, "limit_too_large"},
		{"GET", "/v1/notes/changes?limit=201", auth, 400, "limit_too_large"},
		{"GET", "/v1/threads?limit=1000", auth, 400, "limit_too_large"},
		{"GET", "/v1/events?limit=0", auth, 400, "invalid_limit"},
		{"GET", "/v1/events?limit=-3", auth, 400, "invalid_limit"},
		{"GET", "/v1/events?limit=ten", auth, 400, "invalid_limit"},
		{"GET", "/v1/events?page=1", auth, 400, "unknown_parameter"},
		{"GET", "/v1/events?cursor=", auth, 400, "invalid_cursor"},
		{"GET", "/v1/events?cursor=" + events.Next + "A", auth, 400, "invalid_cursor"},
		{"GET", "/v1/events?cursor=A" + events.Next[1:], auth, 400, "invalid_cursor"},
		{"GET", "/v1/notes/changes?since=" + events.Next, auth, 400, "invalid_cursor"},
		{"GET", "/v1/threads?page=" + events.Next, auth, 400, "invalid_page"},
		{"GET", "/v1/threads?before=yesterday", auth, 400, "invalid_time"},
		{"GET", "/v1/threads?after=9999-01-01T00:00:00Z", auth, 400, "invalid_time"},
		{"GET", "/v1/threads/thr_00000099", auth, 404, "not_found"},
		{"GET", "/v1/threads/thr_1", auth, 404, "not_found"},
		{"GET", "/v1/threads/00000001", auth, 404, "not_found"},
		{"GET", "/v2/events", auth, 404, "not_found"},
		{"POST", "/v1/events", auth, 405, "method_not_allowed"},
	}
	for _, r := range cases {
		if status, code := c.refusal(t, r.method, r.path, r.authorization); status != r.status || code != r.code {
			t.Errorf("%s %s as %q: %d %s, want %d %s", r.method, r.path, r.authorization, status, code, r.status, r.code)
		}
	}
}

func TestTokenStates(t *testing.T) {
	t.Parallel()
	c := setup(t, sample.Config{Seed: 4, Threads: 1})
	change := func(change providersim.TokenChange) string {
		t.Helper()
		now, err := c.sim.ChangeToken(change)
		if err != nil {
			t.Fatal(err)
		}
		return now.Token
	}
	expect := func(token, path string, status int, code string) {
		t.Helper()
		if gotStatus, gotCode := c.refusal(t, "GET", path, "Bearer "+token); gotStatus != status || gotCode != code {
			t.Errorf("%s: %d %s, want %d %s", path, gotStatus, gotCode, status, code)
		}
	}
	change(providersim.TokenChange{Action: "scopes", Scopes: []string{sample.ScopeEvents}})
	c.get(t, "/v1/me", nil, &struct{}{})
	c.get(t, "/v1/events", nil, &struct{}{})
	expect(c.token, "/v1/notes/changes", 403, "insufficient_scope")
	expect(c.token, "/v1/threads", 403, "insufficient_scope")
	expect(c.token, "/v1/threads/thr_00000001", 403, "insufficient_scope")
	change(providersim.TokenChange{Action: "expire"})
	expect(c.token, "/v1/events", 401, "token_expired")
	second := change(providersim.TokenChange{Action: "rotate"})
	expect(c.token, "/v1/events", 401, "token_revoked")
	c.token = second
	c.get(t, "/v1/threads", nil, &struct{}{})
	change(providersim.TokenChange{Action: "revoke"})
	expect(second, "/v1/me", 401, "token_revoked")
}

func TestMe(t *testing.T) {
	t.Parallel()
	c := setup(t, sample.Config{Seed: 5})
	var me struct{ ID, Name string }
	c.get(t, "/v1/me", nil, &me)
	if me.ID == "" || me.Name == "" {
		t.Errorf("account %+v", me)
	}
}
