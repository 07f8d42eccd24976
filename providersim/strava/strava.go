package strava

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
)

// Scopes of a token.
const (
	ScopeRead = "read"
	ScopeSeen = "activity:read"
	ScopeAll  = "activity:read_all"
)

// What the app of the tests is registered as.
const (
	ClientID     = "41200"
	ClientSecret = "secret-of-the-strava-app"
)

// Config says what the simulated account holds and how strict its provider is.
type Config struct {
	Seed       uint64
	Activities int
	MaxPage    int // largest page (200)
	// Ghosts makes every so manieth activity one that is counted in its page and not shown; zero makes
	// none.
	Ghosts int
	// Quarter and Day are the reads of the app; zero is Strava's 100 and 1,000.
	Quarter, Day int
	// Withheld is a scope that the person unticks.
	Withheld string

	// Token is the first access token; empty means one derived from Seed.
	Token string
	// Now is the clock of limits and of the Date header; nil means the wall clock.
	Now func() time.Time
	// Addr and ControlAddr are the loopback addresses of [Start]; empty means a free port.
	Addr, ControlAddr string
}

func (c *Config) fill() {
	or := func(value *int, standard int) {
		if *value == 0 {
			*value = standard
		}
	}
	or(&c.MaxPage, 200)
	or(&c.Quarter, 100)
	or(&c.Day, 1000)
	if c.Token == "" {
		c.Token = fmt.Sprintf("%032x", c.Seed)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
}

// Strava is one simulated account. It is safe for concurrent use.
type Strava struct {
	*providersim.Account
	cfg Config

	mu         sync.Mutex
	clock      time.Time
	choice     *rand.Rand
	lastID     int64
	activities []*activity
	usage      usage
	consent    consent
}

var _ providersim.Provider = (*Strava)(nil)

// New returns an account generated from cfg.
func New(cfg Config) *Strava {
	cfg.fill()
	s := &Strava{
		cfg: cfg, clock: time.Date(2025, 6, 1, 6, 0, 0, 0, time.UTC), choice: rand.New(rand.NewPCG(cfg.Seed, 3)), lastID: 14_000_000_000,
	}
	s.Account = providersim.NewAccount(providersim.NewTokens(cfg.Token, ScopeRead, ScopeSeen, ScopeAll), providersim.GateOptions{Now: cfg.Now, ErrorBody: faultBody})
	s.Mount(s.routes())
	for range cfg.Activities {
		s.record(s.clock)
	}
	return s
}

// Server is a running account.
type Server = providersim.Running[*Strava]

// Start serves a new account and its control port on loopback.
func Start(cfg Config) (*Server, error) {
	return providersim.Start("strava", New(cfg), cfg.Addr, cfg.ControlAddr)
}
