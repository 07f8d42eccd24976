package github

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/rest"
)

// Scopes of a token.
const (
	ScopeUser = "read:user"
	ScopeRepo = "repo"
	ScopeGist = "gist"
)

// Config sets what the simulated account holds and how strict its provider is. Zero limits mean GitHub's own.
type Config struct {
	Seed                                              uint64
	Repositories, Stars, Issues, Pulls, Gists, Events int
	// SameDay puts all pull requests on one day, which search cannot divide.
	SameDay bool

	// Token is the first access token; empty means one derived from Seed.
	Token string
	// FineGrained makes missing permissions answer 403 instead of hiding things.
	FineGrained bool

	// MaxPage is the largest page (100), SearchCap how many results of a query
	// can be paged through (1000).
	MaxPage, SearchCap int
	// Primary is the requests per hour (5000), Search the searches per minute (30).
	Primary, Search int
	// Points is the requests per minute that the secondary limit bears (900),
	// Concurrent how many may be under way at once (100).
	Points, Concurrent int
	// SilentSecondary leaves Retry-After out of secondary refusals; LimitStatus is
	// the status of every limit, 403 unless set to 429.
	SilentSecondary bool
	LimitStatus     int

	// Now is the clock of limits and of the Date header; nil means the wall clock.
	Now func() time.Time
	// Latency delays every answer.
	Latency time.Duration
	// Addr and ControlAddr are the loopback addresses of [Start]; empty means a
	// free port.
	Addr, ControlAddr string
}

// GitHub is one simulated account. It is safe for concurrent use.
type GitHub struct {
	*rest.Service
	cfg      Config
	inFlight atomic.Int64
	skew     atomic.Int64 // nanoseconds by which Advance moved the clock of limits

	user   simUser
	repos  []*simRepository
	stars  []*starredRepo
	issues []*simIssue // pull requests included
	gists  []*simGist
	events []simEvent // oldest first
	// figures are the account's figures at their first request, by day.
	figures map[string]jsonObject

	limits      usageLimits
	admitted    *http.Request // the last one with a good token
	bad         int           // refused tokens in a row
	lockedUntil time.Time
	sso         string // "", "partial" or "required": what the organization demands
	drift       int    // list pages after which something still changes
}

// New returns an account generated from cfg.
func New(cfg Config) *GitHub {
	cfg.MaxPage, cfg.SearchCap = cmp.Or(cfg.MaxPage, 100), cmp.Or(cfg.SearchCap, 1000)
	cfg.Primary, cfg.Search = cmp.Or(cfg.Primary, 5000), cmp.Or(cfg.Search, 30)
	cfg.Points, cfg.Concurrent = cmp.Or(cfg.Points, 900), cmp.Or(cfg.Concurrent, 100)
	cfg.LimitStatus = cmp.Or(cfg.LimitStatus, http.StatusForbidden)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	g := &GitHub{cfg: cfg, figures: map[string]jsonObject{}, limits: newUsageLimits()}
	g.Service = rest.New(rest.Options{Seed: cfg.Seed,
		Token:  cmp.Or(cfg.Token, fmt.Sprintf("ghp_%016x", mixSeeds(cfg.Seed, saltForToken))),
		Scopes: []string{ScopeUser, ScopeRepo, ScopeGist}, Now: g.providerTime, Latency: cfg.Latency, ETags: true,
		Clock: time.Date(2025, 2, 3, 8, 0, 0, 0, time.UTC), Tick: 90 * time.Second,
		Credential: rest.AuthorizationWord("token", "Bearer"), Errors: g.renderError, Guard: g.guard, After: g.finish,
		Truth: g.truth})
	g.Operations = g.allOperations()
	g.Settings = map[string]func(int){"drift": func(n int) { g.drift = n }}
	g.Switches = map[string]func(string){"sso": func(id string) { g.sso = id }} // "", partial or required
	g.handleRoutes()
	g.generateAccount()
	return g
}

// providerTime is the provider's time, which its limits and its Date header follow.
func (g *GitHub) providerTime() time.Time { return g.cfg.Now().Add(time.Duration(g.skew.Load())) }

// Advance moves the clock of limits on, so that no test waits for a reset.
func (g *GitHub) Advance(d time.Duration) { g.skew.Add(int64(d)) }

// Handler serves the provider's API and counts what it serves at the same time.
func (g *GitHub) Handler() http.Handler {
	gated := g.Service.Handler()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.inFlight.Add(1)
		defer g.inFlight.Add(-1)
		gated.ServeHTTP(w, r)
	})
}

const (
	// maxBadAttempts is how many refused tokens in a row lock the sign-in.
	maxBadAttempts  = 5
	lockoutDuration = 10 * time.Minute

	restDocsURL   = "https://docs.github.com/rest"
	docsPrimary   = "https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api"
	docsSecondary = docsPrimary + "#about-secondary-rate-limits"

	sayPrimary = "API rate limit exceeded for user ID 5081. If you reach out to GitHub Support for help, " +
		"please include the request ID."
	saySecondary = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again. " +
		"If you reach out to GitHub Support for help, please include the request ID."
)

// apiError is an error in GitHub's shape, with pairs of headers.
func apiError(status int, message, docs string, headers ...string) rest.Answer {
	a := rest.Answer{Status: status, Header: http.Header{}, Body: jsonObject{"message": message,
		"documentation_url": docs, "status": strconv.Itoa(status)}}
	for i := 0; i < len(headers); i += 2 {
		a.Header.Set(headers[i], headers[i+1])
	}
	return a
}

func (g *GitHub) renderError(f rest.Refusal) rest.Answer {
	switch f.Problem {
	case rest.NoToken, rest.BadToken, rest.ExpiredToken:
		if f.Request != nil { // not a fault
			if g.bad++; g.bad >= maxBadAttempts {
				g.bad, g.lockedUntil = 0, g.providerTime().Add(lockoutDuration)
			}
		}
		return apiError(401, "Bad credentials", restDocsURL)
	case rest.NoRoute, rest.NotFound:
		return apiError(404, "Not Found", restDocsURL)
	case rest.BadParameter:
		a := apiError(422, "Validation Failed", restDocsURL)
		a.Body.(jsonObject)["errors"] = []jsonObject{{"field": f.Name, "code": "invalid"}}
		return a
	case rest.RateLimited:
		return rest.Answer{Status: 429, Body: jsonObject{"documentation_url": docsSecondary, "message": saySecondary}}
	case rest.Unavailable:
		return rest.Answer{Status: 503, Body: jsonObject{
			"message": "No server is currently available to service your request."}}
	}
	return rest.Answer{Status: f.Status(), Body: jsonObject{"message": "Server Error"}}
}

// resourceOf names the allowance that a request uses; an empty one is free of charge.
func resourceOf(r *http.Request) string {
	switch r.URL.Path {
	case "/search/issues":
		return "search"
	case "/rate_limit":
		return ""
	}
	return "core"
}

func (g *GitHub) guard(r *http.Request) rest.Answer {
	if r.Header.Get("User-Agent") == "" {
		return rest.Answer{Status: http.StatusForbidden, Header: http.Header{"Content-Type": {"text/plain"}},
			Body: "Request forbidden by administrative rules. Please make sure your request has a User-Agent header."}
	}
	if g.providerTime().Before(g.lockedUntil) {
		return apiError(403, "Maximum number of login attempts exceeded. Please try again later.", restDocsURL)
	}
	g.bad, g.admitted = 0, r
	if resource := resourceOf(r); resource != "" {
		return g.spendAllowance(resource)
	}
	return rest.Answer{}
}

// finish writes the headers that every answer to a good token has. An unchanged answer costs nothing.
func (g *GitHub) finish(r *http.Request, status int, h http.Header) {
	if g.admitted != r {
		return
	}
	resource := resourceOf(r)
	if status == http.StatusNotModified && resource != "" {
		g.currentWindow(resource).used--
	}
	if !g.cfg.FineGrained {
		h.Set("X-OAuth-Scopes", strings.Join(g.Tokens.Current().Scopes, ", "))
	}
	if resource != "" {
		g.writeLimitHeaders(h, resource)
	}
	if status < 300 || status == http.StatusNotModified {
		g.changeBetweenPages(r)
	}
}

// refuseMissingScope refuses a fine-grained token without the permission. A classic token without the scope is let in
// and sees less.
func (g *GitHub) refuseMissingScope(r *http.Request, scope string) (rest.Answer, bool) {
	if !g.cfg.FineGrained || g.HasScope(r, scope) {
		return rest.Answer{}, false
	}
	return apiError(403, "Resource not accessible by personal access token", restDocsURL), true
}

// showsRepository reports whether lists show the repository to the request's token.
func (g *GitHub) showsRepository(r *http.Request, x *simRepository) bool {
	return !x.deleted && (!x.private || g.HasScope(r, ScopeRepo)) && (g.sso == "" || x.owner != organizationLogin)
}

// markWithheld marks a list from which single sign-on holds things back.
func (g *GitHub) markWithheld(a rest.Answer) rest.Answer {
	if g.sso != "" {
		a.Header.Set("X-GitHub-SSO", "partial-results; organizations=21955855")
	}
	return a
}

func (g *GitHub) handleRoutes() {
	g.Handle("GET /user", "", func(*http.Request) rest.Answer {
		if day := g.providerTime().UTC().Format(time.DateOnly); g.figures[day] == nil {
			g.figures[day] = g.userObject()
		}
		return rest.OK(g.userObject())
	})
	for pattern, serve := range map[string]func(*http.Request) rest.Answer{
		"/user/repos": g.serveRepos, "/user/starred": g.serveStars, "/issues": g.serveIssues, "/gists": g.serveGists,
		"/users/{login}/events": g.serveEvents, "/search/issues": g.serveSearch, "/rate_limit": g.serveRateLimit,
		"/repos/{owner}/{repo}/pulls/{number}": g.servePullRequest, "/repositories/{id}/pulls/{number}": g.servePullRequest,
		"/repos/{owner}/{repo}/issues/{number}": g.serveIssue,
	} {
		g.Handle("GET "+pattern, "", serve)
	}
}

// Server is a running account.
type Server = providersim.Running[*GitHub]

// Start serves a new account and its control port on loopback.
func Start(cfg Config) (*Server, error) {
	return providersim.Start("github", New(cfg), cfg.Addr, cfg.ControlAddr)
}
