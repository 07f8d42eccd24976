package slack

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"pdpp/providersim"
)

// Config says what the simulated workspace holds and how strict its provider is.
type Config struct {
	Seed                   uint64
	Channels, Users, Files int
	Messages               int // of each channel, nine hours apart
	MaxPage                int // things in a page of a list (200)
	// Rate is how many requests of each method a token may make in any minute; zero is no limit.
	Rate int

	// Token is the first token; empty means one derived from Seed.
	Token string
	// Now is the clock of the data, of the limit and of the Date header; nil means the wall clock.
	Now func() time.Time
	// Addr and ControlAddr are the loopback addresses of [Start]; empty means a free port.
	Addr, ControlAddr string
}

// Slack is one simulated workspace. It is safe for concurrent use.
type Slack struct {
	cfg    Config
	gate   *providersim.Gate
	tokens *providersim.Tokens
	signer providersim.Signer
	api    http.Handler

	mu       sync.Mutex
	choice   *rand.Rand
	lastID   int
	lastTS   time.Time
	channels []*channel
	users    []object
	files    []*file
	served   int // pages of histories
	narrow   bool
	asked    map[string][]time.Time // by method
}

var _ providersim.Provider = (*Slack)(nil)

// New returns a workspace generated from cfg.
func New(cfg Config) *Slack {
	if cfg.MaxPage == 0 {
		cfg.MaxPage = 200
	}
	if cfg.Token == "" {
		cfg.Token = fmt.Sprintf("xoxp-%016x", cfg.Seed)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &Slack{cfg: cfg, tokens: providersim.NewTokens(cfg.Token), signer: providersim.NewSigner(cfg.Token), choice: rand.New(rand.NewPCG(cfg.Seed, 3)), asked: map[string][]time.Time{}}
	s.gate = providersim.NewGate(providersim.GateOptions{Now: cfg.Now, ErrorBody: faultBody,
		Label: func(r *http.Request) string { return s.tokens.Label(r.Header.Get("Authorization")) }})
	s.api = s.gate.Wrap(s.routes())
	s.generate()
	return s
}

// Handler serves the provider's API.
func (s *Slack) Handler() http.Handler { return s.api }

// ControlHandler serves the control port.
func (s *Slack) ControlHandler() http.Handler { return providersim.ControlHandler(s, s.gate) }

// Gate gives access to faults and counters.
func (s *Slack) Gate() *providersim.Gate { return s.gate }

// ChangeToken rotates, expires or revokes the current token.
func (s *Slack) ChangeToken(c providersim.TokenChange) (providersim.TokenStatus, error) {
	return s.tokens.Change(c)
}

// Server is a running workspace.
type Server struct {
	*providersim.Server
	Sim *Slack
}

// Start serves a new workspace and its control port on loopback.
func Start(cfg Config) (*Server, error) {
	sim := New(cfg)
	s, err := providersim.Serve(cfg.Addr, sim.Handler(), cfg.ControlAddr, sim.ControlHandler())
	if err != nil {
		return nil, fmt.Errorf("start slack: %w", err)
	}
	return &Server{Server: s, Sim: sim}, nil
}
