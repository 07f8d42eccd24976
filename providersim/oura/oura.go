package oura

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
)

// Scopes of a token.
const (
	ScopePersonal = "personal"
	ScopeDaily    = "daily"
)

// Config says what the simulated account holds.
type Config struct {
	Seed uint64
	Days int // of data, up to today
	Page int // documents in a page (50)

	// Token is the first access token; empty means one derived from Seed.
	Token string
	// Now is the clock of the data and of the Date header; nil means the wall clock.
	Now func() time.Time
	// Addr and ControlAddr are the loopback addresses of [Start]; empty means a free port.
	Addr, ControlAddr string
}

// Oura is one simulated account. It is safe for concurrent use.
type Oura struct {
	*providersim.Account
	cfg    Config
	signer providersim.Signer

	mu       sync.Mutex
	choice   *rand.Rand
	lastID   int
	all      map[string][]*document // by collection
	outdated bool
}

var _ providersim.Provider = (*Oura)(nil)

// New returns an account generated from cfg.
func New(cfg Config) *Oura {
	if cfg.Page == 0 {
		cfg.Page = 50
	}
	if cfg.Token == "" {
		cfg.Token = fmt.Sprintf("oura%016x", cfg.Seed)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	o := &Oura{cfg: cfg, signer: providersim.NewSigner(cfg.Token),
		choice: rand.New(rand.NewPCG(cfg.Seed, 3)), all: map[string][]*document{}}
	o.Account = providersim.NewAccount(providersim.NewTokens(cfg.Token, ScopePersonal, ScopeDaily), providersim.GateOptions{Now: cfg.Now, ErrorBody: faultBody})
	o.Mount(o.routes())
	for ago := cfg.Days - 1; ago >= 0; ago-- {
		o.live(o.today().AddDate(0, 0, -ago))
	}
	return o
}

// today is the day that it is.
func (o *Oura) today() time.Time { return o.cfg.Now().UTC().Truncate(24 * time.Hour) }

// Server is a running account.
type Server = providersim.Running[*Oura]

// Start serves a new account and its control port on loopback.
func Start(cfg Config) (*Server, error) {
	return providersim.Start("oura", New(cfg), cfg.Addr, cfg.ControlAddr)
}
