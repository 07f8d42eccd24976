package github

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
)

// reader asks a simulated account as a client would.
type reader struct {
	t   *testing.T
	sim *GitHub
}

func newReader(t *testing.T, cfg Config) reader {
	at := time.Date(2026, 5, 6, 12, 0, 0, 0, time.UTC)
	if cfg.Now == nil {
		cfg.Now = func() time.Time { return at }
	}
	return reader{t, New(cfg)}
}

// get sends a request with the current token, unless the headers have another.
func (c reader) get(target string, headers ...string) *http.Response {
	c.t.Helper()
	r := httptest.NewRequest(http.MethodGet, "http://api.github.test"+target, nil)
	r.Header.Set("User-Agent", "test")
	r.Header.Set("Authorization", "Bearer "+c.sim.Token())
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Del(headers[i])
		if headers[i+1] != "" {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	w := httptest.NewRecorder()
	c.sim.Handler().ServeHTTP(w, r)
	return w.Result()
}

func (c reader) status(want int, target string, headers ...string) *http.Response {
	c.t.Helper()
	resp := c.get(target, headers...)
	if resp.StatusCode != want {
		c.t.Errorf("GET %s answered %d, want %d", target, resp.StatusCode, want)
	}
	return resp
}

func (c reader) rows(target string, headers ...string) ([]map[string]any, *http.Response) {
	c.t.Helper()
	resp := c.status(http.StatusOK, target, headers...)
	var rows []map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&rows); err != nil {
		c.t.Fatalf("GET %s: %v", target, err)
	}
	return rows, resp
}

func (c reader) mutate(op string, n int, id string) []string {
	c.t.Helper()
	out, err := c.sim.Mutate(providersim.Mutation{Op: op, N: n, ID: id})
	if err != nil {
		c.t.Fatal(err)
	}
	return out.IDs
}

func message(c reader, resp *http.Response) string {
	var body struct{ Message string }
	if err := json.NewDecoder(resp.Body).Decode(&body); err != nil {
		c.t.Fatal(err)
	}
	return body.Message
}

func TestAccess(t *testing.T) {
	t.Parallel()
	c := newReader(t, Config{Seed: 1})
	c.status(200, "/user")
	c.status(200, "/user", "Authorization", "token "+c.sim.Token())
	resp := c.status(403, "/user", "User-Agent", "")
	if kind := resp.Header.Get("Content-Type"); kind != "text/plain" {
		t.Errorf("a missing User-Agent answers %s", kind)
	}
	for range maxBadAttempts {
		if got := message(c, c.status(401, "/user", "Authorization", "Bearer wrong")); got != "Bad credentials" {
			t.Error(got)
		}
	}
	if got := message(c, c.status(403, "/user")); !strings.Contains(got, "login attempts") {
		t.Error(got)
	}
	c.sim.Advance(lockoutDuration)
	c.status(200, "/user")
}

func TestPaging(t *testing.T) {
	t.Parallel()
	c := newReader(t, Config{Seed: 1, Stars: 250, MaxPage: 100})
	rows, resp := c.rows("/user/starred?per_page=500", "Accept", "application/vnd.github.star+json")
	link := resp.Header.Get("Link")
	if len(rows) != 100 || !strings.Contains(link, `page=2&per_page=500>; rel="next"`) ||
		!strings.Contains(link, `page=3&per_page=500>; rel="last"`) {
		t.Errorf("%d rows, Link %s", len(rows), link)
	}
	if rows[0]["starred_at"] == nil || rows[0]["repo"] == nil {
		t.Errorf("row %v", rows[0])
	}
	if rows, resp = c.rows("/user/starred?per_page=100&page=3"); len(rows) != 50 || resp.Header.Get("Link") != "" {
		t.Errorf("the last page has %d rows and Link %q", len(rows), resp.Header.Get("Link"))
	}
	if rows[0]["full_name"] == nil {
		t.Error("without the star Accept a row is no bare repository")
	}
	if rows, _ = c.rows("/user/starred"); len(rows) != defaultPage {
		t.Errorf("%d rows by default", len(rows))
	}
	c.status(422, "/user/starred?sort=size")
}

// TestDrift shows that pages are offsets: what is added moves the rest on.
func TestDrift(t *testing.T) {
	t.Parallel()
	c := newReader(t, Config{Seed: 1, Stars: 20, MaxPage: 10})
	c.mutate("drift", 1, "")
	first, _ := c.rows("/user/starred?per_page=10")
	second, _ := c.rows("/user/starred?per_page=10&page=2")
	if second[0]["id"] != first[8]["id"] || second[1]["id"] != first[9]["id"] {
		t.Error("two new stars did not shift the second page by two")
	}
}

func TestValidators(t *testing.T) {
	t.Parallel()
	c := newReader(t, Config{Seed: 1, Stars: 20, MaxPage: 10})
	_, resp := c.rows("/user/starred?page=1")
	tag, used := resp.Header.Get("ETag"), c.sim.Used("core")
	resp = c.status(304, "/user/starred?page=1", "If-None-Match", tag)
	if resp.Header.Get("Link") != "" || resp.ContentLength > 0 || c.sim.Used("core") != used {
		t.Error("an unchanged page has a Link or a body, or costs something")
	}
	c.status(200, "/user/starred?page=1", "If-None-Match", tag, "Accept", "application/vnd.github.star+json")
	c.mutate("add_stars", 1, "")
	c.status(200, "/user/starred?page=1", "If-None-Match", tag)
}

func TestPrimaryLimit(t *testing.T) {
	t.Parallel()
	c := newReader(t, Config{Seed: 1, Primary: 3, Search: 2})
	for left := range 3 {
		resp := c.status(200, "/user")
		if got := resp.Header.Get("X-RateLimit-Remaining"); got != string(rune('2'-left)) {
			t.Errorf("remaining %s", got)
		}
	}
	resp := c.status(403, "/user")
	if resp.Header.Get("X-RateLimit-Remaining") != "0" || resp.Header.Get("Retry-After") != "" ||
		!strings.HasPrefix(message(c, resp), "API rate limit exceeded") {
		t.Errorf("refused with %v", resp.Header)
	}
	resp = c.status(200, "/search/issues?q=type:pr+author:"+ownUserLogin)
	if resp.Header.Get("X-RateLimit-Resource") != "search" || resp.Header.Get("X-RateLimit-Remaining") != "1" {
		t.Errorf("a search is counted as %v", resp.Header)
	}
	if c.status(200, "/rate_limit").Header.Get("X-RateLimit-Used") != "" {
		t.Error("asking for the limit is counted")
	}
	c.sim.Advance(time.Hour + 2*time.Second)
	c.status(200, "/user")
}

func TestSecondaryLimit(t *testing.T) {
	t.Parallel()
	for _, silent := range []bool{false, true} {
		c := newReader(t, Config{Seed: 1, Points: 2, SilentSecondary: silent, LimitStatus: 429})
		c.status(200, "/user")
		c.status(200, "/user")
		resp := c.status(429, "/user")
		if text := resp.Header.Get("Retry-After"); (text == "") != silent || resp.Header.Get("X-RateLimit-Remaining") == "0" {
			t.Errorf("silent %v: refused with %v", silent, resp.Header)
		}
		c.sim.Advance(time.Minute)
		c.status(200, "/user")
	}
}

func TestIssuesAreSelected(t *testing.T) {
	t.Parallel()
	c := newReader(t, Config{Seed: 1, Issues: 12, Pulls: 6})
	all, _ := c.rows("/issues?filter=all&state=all&sort=updated&direction=asc")
	assigned, _ := c.rows("/issues")
	if len(all) != 18 || len(assigned) >= len(all) {
		t.Errorf("%d issues, %d of them assigned and open", len(all), len(assigned))
	}
	since := all[10]["updated_at"].(string)
	rest, _ := c.rows("/issues?filter=all&state=all&sort=updated&direction=asc&since=" + since)
	if rest[0]["updated_at"] != since {
		t.Errorf("since is not inclusive: %v", rest[0]["updated_at"])
	}
	c.status(422, "/issues?since=yesterday")
}

func TestSearch(t *testing.T) {
	t.Parallel()
	c := newReader(t, Config{Seed: 1, Pulls: 50, MaxPage: 10, SearchCap: 20})
	var found struct {
		Total int              `json:"total_count"`
		Items []map[string]any `json:"items"`
	}
	resp := c.status(200, "/search/issues?page=2&q=type:pr+author:"+ownUserLogin)
	if err := json.NewDecoder(resp.Body).Decode(&found); err != nil {
		t.Fatal(err)
	}
	if found.Total != 50 || len(found.Items) != 10 || resp.Header.Get("Link") != "" ||
		found.Items[0]["repository"] != nil {
		t.Errorf("%d of %d on the last page that can be had, Link %q", len(found.Items), found.Total, resp.Header.Get("Link"))
	}
	if got := message(c, c.status(422, "/search/issues?page=3&q=type:pr+author:"+ownUserLogin)); !strings.HasPrefix(got,
		"Only the first 1000") {
		t.Error(got)
	}
	c.status(422, "/search/issues?q=author:"+ownUserLogin+"+updated:soon")
}

// TestObjects asks for pull requests that are there, hidden, deleted, blocked,
// renamed and protected.
func TestObjects(t *testing.T) {
	t.Parallel()
	c := newReader(t, Config{Seed: 1, Repositories: 5, Pulls: 12})
	path := func(i *simIssue) string {
		return strings.TrimPrefix(c.sim.repositoryURL(i.repo), "https://api.github.com") + "/pulls/" + formatID(i.number)
	}
	pulls := c.sim.issues // of the repositories 0 to 3 in turn; 1 is private, 2 the organization's
	c.status(200, path(pulls[0]))
	c.status(404, path(pulls[0])+"00")
	c.status(404, "/repos/"+ownUserLogin+"/nothing/pulls/1")

	old := path(pulls[0])
	pulls[0].repo.former, pulls[0].repo.name = pulls[0].repo.qualifiedName(), "renamed"
	to := c.status(301, old).Header.Get("Location")
	c.status(200, strings.TrimPrefix(to, "http://api.github.test"))

	pulls[3].repo.blocked = true
	c.status(451, path(pulls[3]))
	pulls[4].refusal = http.StatusGone
	c.status(410, path(pulls[4]))

	c.mutate("sso", 0, "required")
	if sso := c.status(403, path(pulls[2])).Header.Get("X-GitHub-SSO"); !strings.HasPrefix(sso, "required; url=") {
		t.Errorf("X-GitHub-SSO %q", sso)
	}
	repos, resp := c.rows("/user/repos")
	if len(repos) != 4 || !strings.HasPrefix(resp.Header.Get("X-GitHub-SSO"), "partial-results") {
		t.Errorf("%d repositories, X-GitHub-SSO %q", len(repos), resp.Header.Get("X-GitHub-SSO"))
	}
	if _, err := c.sim.ChangeToken(providersim.TokenChange{Action: "scopes", Scopes: []string{ScopeUser}}); err != nil {
		t.Fatal(err)
	}
	c.status(404, path(pulls[1]))
}

func TestFineGrainedToken(t *testing.T) {
	t.Parallel()
	c := newReader(t, Config{Seed: 1, Issues: 1, FineGrained: true})
	if _, err := c.sim.ChangeToken(providersim.TokenChange{Action: "scopes", Scopes: []string{ScopeUser}}); err != nil {
		t.Fatal(err)
	}
	resp := c.status(403, "/issues")
	if got := message(c, resp); got != "Resource not accessible by personal access token" ||
		resp.Header.Get("X-OAuth-Scopes") != "" {
		t.Error(got)
	}
}

func TestEventsAreBounded(t *testing.T) {
	t.Parallel()
	c := newReader(t, Config{Seed: 1, Events: 450})
	c.status(200, "/users/"+ownUserLogin+"/events?per_page=100&page=3")
	c.status(422, "/users/"+ownUserLogin+"/events?per_page=100&page=4")
	c.status(404, "/users/somebody/events")
	c.sim.advanceClock(maxEventAge)
	if rows, _ := c.rows("/users/" + ownUserLogin + "/events"); len(rows) != 0 {
		t.Errorf("%d events are older than GitHub keeps them", len(rows))
	}
}

// TestEqualAccounts shows that all follows from the configuration.
func TestEqualAccounts(t *testing.T) {
	t.Parallel()
	made := func() string {
		c := newReader(t, Config{Seed: 4, Repositories: 6, Stars: 9, Issues: 9, Pulls: 9, Gists: 3, Events: 9})
		for _, op := range []string{"add_stars", "unstar", "touch_issues", "delete_gists", "push_repositories",
			"edit_repositories"} {
			c.mutate(op, 2, "")
		}
		return string(providersim.EncodeJSON(c.sim.Truth()))
	}
	first := made()
	if again := made(); again != first {
		t.Error("equal configurations and mutations give different accounts")
	}
	c := newReader(t, Config{})
	for _, m := range []providersim.Mutation{{Op: "nothing", N: 1}, {Op: "unstar"}, {Op: "unstar", N: -1}} {
		if _, err := c.sim.Mutate(m); err == nil {
			t.Errorf("mutation %+v is accepted", m)
		}
	}
}
