package lumen

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"pdpp/providersim"
)

// Scopes of an access token.
const (
	ScopeEvents  = "events:read"
	ScopeNotes   = "notes:read"
	ScopeThreads = "threads:read"
)

// Config says what the simulated account holds. The zero value is an empty
// account.
type Config struct {
	Seed                   uint64
	Events, Notes, Threads int
	// Token is the first access token; empty means one derived from Seed.
	Token string
	// Start is the logical time of the oldest data; zero means 2024-03-01 09:00 UTC.
	Start time.Time
	// Now is the clock of throttling; nil means the wall clock.
	Now func() time.Time
	// Latency delays every answer.
	Latency time.Duration
	// Addr and ControlAddr are the loopback addresses of [Start]; empty means
	// a free port.
	Addr, ControlAddr string
}

// Lumen is one simulated account. It is safe for concurrent use.
type Lumen struct {
	gate   *providersim.Gate
	tokens *providersim.Tokens
	signer providersim.Signer
	api    http.Handler
	seed   uint64

	mu        sync.Mutex
	clock     int64      // logical time in Unix nanoseconds
	choice    *rand.Rand // which items a mutation picks
	events    []int64    // time of each event; the rest follows from its index
	seedNotes int        // notes that events may refer to
	notes     []note
	changes   []int32 // note index of each change; its position plus one is the sequence
	threads   []thread
	order     []int32 // live threads, newest first
}

var _ providersim.Provider = (*Lumen)(nil)

// New returns an account generated from cfg.
func New(cfg Config) *Lumen {
	if cfg.Token == "" {
		cfg.Token = fmt.Sprintf("lumen_pat_%016x", mix(cfg.Seed, saltToken))
	}
	if cfg.Start.IsZero() {
		cfg.Start = time.Date(2024, 3, 1, 9, 0, 0, 0, time.UTC)
	}
	l := &Lumen{
		tokens:    providersim.NewTokens(cfg.Token, ScopeEvents, ScopeNotes, ScopeThreads),
		signer:    providersim.NewSigner(fmt.Sprintf("lumen %d", cfg.Seed)),
		seed:      cfg.Seed,
		choice:    rand.New(rand.NewPCG(cfg.Seed, saltChoice)),
		seedNotes: cfg.Notes,
	}
	l.gate = providersim.NewGate(providersim.GateOptions{
		Now: cfg.Now, Latency: cfg.Latency, ErrorBody: errorBody,
		Label: func(r *http.Request) string { return l.tokens.Label(r.Header.Get("Authorization")) },
	})
	l.api = l.gate.Wrap(l.routes())
	l.generate(cfg)
	return l
}

// Handler serves the provider's API.
func (l *Lumen) Handler() http.Handler { return l.api }

// ControlHandler serves the control port.
func (l *Lumen) ControlHandler() http.Handler { return providersim.ControlHandler(l, l.gate) }

// Gate gives access to faults and counters.
func (l *Lumen) Gate() *providersim.Gate { return l.gate }

// Token returns the current access token.
func (l *Lumen) Token() string { return l.tokens.Current().Token }

// ChangeToken rotates, expires, revokes or narrows the current token.
func (l *Lumen) ChangeToken(c providersim.TokenChange) (providersim.TokenStatus, error) {
	return l.tokens.Change(c)
}

// Now returns the logical time of the data.
func (l *Lumen) Now() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return instant(l.clock)
}

// Server is a running account.
type Server struct {
	*providersim.Server
	Sim *Lumen
}

// Start serves a new account and its control port on loopback.
func Start(cfg Config) (*Server, error) {
	sim := New(cfg)
	s, err := providersim.Serve(cfg.Addr, sim.Handler(), cfg.ControlAddr, sim.ControlHandler())
	if err != nil {
		return nil, fmt.Errorf("start lumen: %w", err)
	}
	return &Server{Server: s, Sim: sim}, nil
}

func instant(nanos int64) time.Time { return time.Unix(0, nanos).UTC() }
