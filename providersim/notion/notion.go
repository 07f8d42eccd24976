package notion

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
)

// Config says what the simulated account holds and how strict its provider is.
type Config struct {
	Seed             uint64
	Pages, Databases int
	Blocks           int  // of each page
	Nested           bool // blocks hold others
	MaxPage          int  // things in a page of a list (100)
	// Rate is how many requests a token may make in any second; zero is no limit.
	Rate int

	// Token is the first token; empty means one derived from Seed.
	Token string
	// Now is the clock of the limit and of the Date header; nil means the wall clock.
	Now func() time.Time
	// Addr and ControlAddr are the loopback addresses of [Start]; empty means a free port.
	Addr, ControlAddr string
}

// Notion is one simulated account. It is safe for concurrent use.
type Notion struct {
	*providersim.Account
	cfg    Config
	signer providersim.Signer

	mu     sync.Mutex
	clock  time.Time
	choice *rand.Rand
	lastID int
	things []*thing
	served int // pages of searches
	blind  bool
	asked  []time.Time
}

var _ providersim.Provider = (*Notion)(nil)

// New returns an account generated from cfg.
func New(cfg Config) *Notion {
	if cfg.MaxPage == 0 {
		cfg.MaxPage = 100
	}
	if cfg.Token == "" {
		cfg.Token = fmt.Sprintf("ntn_%016x", cfg.Seed)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	n := &Notion{cfg: cfg, signer: providersim.NewSigner(cfg.Token), choice: rand.New(rand.NewPCG(cfg.Seed, 3)),
		clock: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)}
	n.Account = providersim.NewAccount(providersim.NewTokens(cfg.Token), providersim.GateOptions{Now: cfg.Now, ErrorBody: faultBody})
	n.Mount(n.routes())
	for range cfg.Databases {
		n.add("database")
	}
	for range cfg.Pages {
		n.add("page")
	}
	return n
}

// Server is a running account.
type Server = providersim.Running[*Notion]

// Start serves a new account and its control port on loopback.
func Start(cfg Config) (*Server, error) {
	return providersim.Start("notion", New(cfg), cfg.Addr, cfg.ControlAddr)
}
