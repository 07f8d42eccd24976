package ynab

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
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
	*providersim.Account
	cfg Config

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
	y := &YNAB{cfg: cfg, choice: rand.New(rand.NewPCG(cfg.Seed, 3)), samples: map[string]map[string]object{}}
	y.Account = providersim.NewAccount(providersim.NewTokens(cfg.Token), providersim.GateOptions{Now: cfg.Now, ErrorBody: faultBody})
	y.Mount(y.routes())
	for range cfg.Budgets {
		y.addBudget()
	}
	return y
}

// Server is a running account.
type Server = providersim.Running[*YNAB]

// Start serves a new account and its control port on loopback.
func Start(cfg Config) (*Server, error) {
	return providersim.Start("ynab", New(cfg), cfg.Addr, cfg.ControlAddr)
}
