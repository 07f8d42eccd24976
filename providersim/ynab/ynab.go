package ynab

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"pdpp/providersim"
)

// Config says what the simulated account holds and how strict its provider is.
type Config struct {
	Seed                                 uint64
	Budgets                              int
	Accounts, Categories, Payees, Months int // of each budget
	Transactions                         int // of each budget
	// Rate is how many requests a token may make in any hour; zero is no limit.
	Rate int

	// Token is the first token; empty means one derived from Seed.
	Token string
	// Now is the clock of the data, of the limit and of the Date header; nil means the wall clock.
	Now func() time.Time
	// Addr and ControlAddr are the loopback addresses of [Start]; empty means a free port.
	Addr, ControlAddr string
}

// YNAB is one simulated account. It is safe for concurrent use.
type YNAB struct {
	cfg    Config
	gate   *providersim.Gate
	tokens *providersim.Tokens
	api    http.Handler

	mu      sync.Mutex
	choice  *rand.Rand
	lastID  int
	budgets []*budget
	samples map[string]map[string]object // balances by day and account, as the first whole answer of a day had them
	lapsed  bool
	asked   []time.Time
}

var _ providersim.Provider = (*YNAB)(nil)

// New returns an account generated from cfg.
func New(cfg Config) *YNAB {
	if cfg.Token == "" {
		cfg.Token = fmt.Sprintf("ynab-%016x", cfg.Seed)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	y := &YNAB{cfg: cfg, tokens: providersim.NewTokens(cfg.Token), choice: rand.New(rand.NewPCG(cfg.Seed, 3)), samples: map[string]map[string]object{}}
	y.gate = providersim.NewGate(providersim.GateOptions{Now: cfg.Now, ErrorBody: faultBody,
		Label: func(r *http.Request) string { return y.tokens.Label(r.Header.Get("Authorization")) }})
	y.api = y.gate.Wrap(y.routes())
	for range cfg.Budgets {
		y.addBudget()
	}
	return y
}

// Handler serves the provider's API.
func (y *YNAB) Handler() http.Handler { return y.api }

// ControlHandler serves the control port.
func (y *YNAB) ControlHandler() http.Handler { return providersim.ControlHandler(y, y.gate) }

// Gate gives access to faults and counters.
func (y *YNAB) Gate() *providersim.Gate { return y.gate }

// ChangeToken rotates, expires or revokes the current token.
func (y *YNAB) ChangeToken(c providersim.TokenChange) (providersim.TokenStatus, error) {
	return y.tokens.Change(c)
}

// Server is a running account.
type Server struct {
	*providersim.Server
	Sim *YNAB
}

// Start serves a new account and its control port on loopback.
func Start(cfg Config) (*Server, error) {
	sim := New(cfg)
	s, err := providersim.Serve(cfg.Addr, sim.Handler(), cfg.ControlAddr, sim.ControlHandler())
	if err != nil {
		return nil, fmt.Errorf("start ynab: %w", err)
	}
	return &Server{Server: s, Sim: sim}, nil
}
