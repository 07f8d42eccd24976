package gitea

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
)

// Scopes of a token.
const (
	ScopeUser       = "read:user"
	ScopeRepository = "read:repository"
	ScopeIssue      = "read:issue"
)

// Config says what the simulated account holds.
type Config struct {
	Seed         uint64
	Repositories int // of the person
	Issues       int // in them
	Pulls        int
	Comments     int
	Stars        int // repositories of others, in which the person has opened something now and then
	MaxPage      int // the most that a page holds (50)

	// Token is the first access token; empty means one derived from Seed.
	Token string
	// Now is the clock of the data and of the Date header; nil means the wall clock.
	Now func() time.Time
	// Addr and ControlAddr are the loopback addresses of [Start]; empty means a free port.
	Addr, ControlAddr string
}

// Gitea is one simulated account on a server. It is safe for concurrent use.
type Gitea struct {
	*providersim.Account
	cfg Config

	mu       sync.Mutex
	choice   *rand.Rand
	lastID   int64
	repos    []*repo
	issues   []*issue
	comments []*comment
	stars    map[int64]bool
	hidden   int // starred repositories that the person may no longer see
	about    string
}

var _ providersim.Provider = (*Gitea)(nil)

// New returns an account generated from cfg.
func New(cfg Config) *Gitea {
	if cfg.MaxPage == 0 {
		cfg.MaxPage = 50
	}
	if cfg.Token == "" {
		cfg.Token = fmt.Sprintf("%040x", cfg.Seed+1)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	g := &Gitea{cfg: cfg, choice: rand.New(rand.NewPCG(cfg.Seed, 7)), stars: map[int64]bool{}, about: "Keeps <small> tools."}
	tokens := providersim.NewTokens(cfg.Token, ScopeUser, ScopeRepository, ScopeIssue)
	g.Account = providersim.NewAccount(tokens, providersim.GateOptions{Now: cfg.Now, ErrorBody: faultBody})
	g.Mount(g.routes())
	g.generate()
	return g
}

// authorization has one spelling of what a server reads in two.
func authorization(header string) string {
	if rest, ok := strings.CutPrefix(header, "token "); ok {
		return "Bearer " + rest
	}
	return header
}

// Server is a running account.
type Server = providersim.Running[*Gitea]

// Start serves a new account and its control port on loopback.
func Start(cfg Config) (*Server, error) {
	return providersim.Start("gitea", New(cfg), cfg.Addr, cfg.ControlAddr)
}
