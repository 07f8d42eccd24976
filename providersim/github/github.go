package github

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
)

// Scopes of a token.
const (
	ScopeUser = "read:user"
	ScopeRepo = "repo"
	ScopeGist = "gist"
)

// Config says what the simulated account holds and how strict its provider is.
// Zero limits mean GitHub's own.
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

func (c *Config) fill() {
	or := func(value *int, standard int) {
		if *value == 0 {
			*value = standard
		}
	}
	or(&c.MaxPage, 100)
	or(&c.SearchCap, 1000)
	or(&c.Primary, 5000)
	or(&c.Search, 30)
	or(&c.Points, 900)
	or(&c.Concurrent, 100)
	or(&c.LimitStatus, http.StatusForbidden)
	if c.Token == "" {
		c.Token = fmt.Sprintf("ghp_%016x", mix(c.Seed, saltToken))
	}
	if c.Now == nil {
		c.Now = time.Now
	}
}

// GitHub is one simulated account. It is safe for concurrent use.
type GitHub struct {
	*providersim.Account
	cfg      Config
	inFlight atomic.Int64
	skew     atomic.Int64 // nanoseconds by which Advance moved the clock of limits

	mu     sync.Mutex
	clock  time.Time  // logical time of the data, in whole seconds
	choice *rand.Rand // which items a mutation picks
	nextID int64
	user   user
	repos  []*repo
	stars  []*star
	issues []*issue // pull requests included
	gists  []*gist
	// figures are those of the account when they were first asked for, by day.
	figures map[string]object
	events  []event // oldest first

	limits limits
	access access
	drift  int // list pages after which something still changes
}

var _ providersim.Provider = (*GitHub)(nil)

// New returns an account generated from cfg.
func New(cfg Config) *GitHub {
	cfg.fill()
	g := &GitHub{
		cfg:    cfg,
		clock:  time.Date(2025, 2, 3, 8, 0, 0, 0, time.UTC),
		choice: rand.New(rand.NewPCG(cfg.Seed, saltChoice)),
		nextID: 1000, figures: map[string]object{},
	}
	g.limits = newLimits()
	g.Account = providersim.NewAccount(providersim.NewTokens(cfg.Token, ScopeUser, ScopeRepo, ScopeGist), providersim.GateOptions{
		Now: g.now, Latency: cfg.Latency, ErrorBody: faultBody,
		Label: func(r *http.Request) string { return g.Tokens.Label(bearer(r)) },
	})
	g.Mount(g.routes())
	g.generate()
	return g
}

// now is the provider's time, which its limits and its Date header follow.
func (g *GitHub) now() time.Time { return g.cfg.Now().Add(time.Duration(g.skew.Load())) }

// Advance moves the clock of limits on, so that no test waits for a reset.
func (g *GitHub) Advance(d time.Duration) { g.skew.Add(int64(d)) }

// Handler serves the provider's API and counts what it serves at the same time.
func (g *GitHub) Handler() http.Handler {
	gated := g.Account.Handler()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.inFlight.Add(1)
		defer g.inFlight.Add(-1)
		gated.ServeHTTP(w, r)
	})
}

// Server is a running account.
type Server = providersim.Running[*GitHub]

// Start serves a new account and its control port on loopback.
func Start(cfg Config) (*Server, error) {
	return providersim.Start("github", New(cfg), cfg.Addr, cfg.ControlAddr)
}
