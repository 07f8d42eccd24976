package sample

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
)

// Scopes of an access token.
const (
	ScopeEvents  = "events:read"
	ScopeNotes   = "notes:read"
	ScopeThreads = "threads:read"
)

// Config sets what the simulated account holds. The zero value is an empty account.
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
	*providersim.Account
	signer providersim.Signer
	seed   uint64

	mu        sync.Mutex
	clock     int64      // logical time in Unix nanoseconds
	choice    *rand.Rand // which items a mutation picks
	events    []int64    // time of each event; the rest follows from its index
	seedNotes int        // notes that events may refer to
	notes     []storedNote
	changes   []int32 // note index of each change; its position plus one is the sequence
	threads   []storedThread
	order     []int32 // live threads, newest first
}

var _ providersim.Provider = (*Lumen)(nil)

// New returns an account generated from cfg.
func New(cfg Config) *Lumen {
	if cfg.Token == "" {
		cfg.Token = fmt.Sprintf("lumen_pat_%016x", mixSeeds(cfg.Seed, saltForToken))
	}
	if cfg.Start.IsZero() {
		cfg.Start = time.Date(2024, 3, 1, 9, 0, 0, 0, time.UTC)
	}
	l := &Lumen{
		signer:    providersim.NewSigner(fmt.Sprintf("lumen %d", cfg.Seed)),
		seed:      cfg.Seed,
		choice:    rand.New(rand.NewPCG(cfg.Seed, saltChoice)),
		seedNotes: cfg.Notes,
	}
	l.Account = providersim.NewAccount(providersim.NewTokens(cfg.Token, ScopeEvents, ScopeNotes, ScopeThreads),
		providersim.GateOptions{Now: cfg.Now, Latency: cfg.Latency, ErrorBody: refusalBody})
	l.Mount(l.apiRoutes())
	l.generateAccount(cfg)
	return l
}

// Now returns the logical time of the data.
func (l *Lumen) Now() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return timeFromNanos(l.clock)
}

// Server is a running account.
type Server = providersim.Running[*Lumen]

// Start serves a new account and its control port on loopback.
func Start(cfg Config) (*Server, error) {
	return providersim.Start("lumen", New(cfg), cfg.Addr, cfg.ControlAddr)
}

func timeFromNanos(nanos int64) time.Time { return time.Unix(0, nanos).UTC() }
