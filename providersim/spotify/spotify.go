package spotify

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
)

// Scopes of a token.
const (
	ScopePlaylists     = "playlist-read-private"
	ScopeCollaborative = "playlist-read-collaborative"
	ScopeLibrary       = "user-library-read"
	ScopeTop           = "user-top-read"
	ScopePlayed        = "user-read-recently-played"
)

// Config says what the simulated account holds and how strict its provider is.
type Config struct {
	Seed                           uint64
	Playlists, Items, Saved, Plays int // Items of each playlist
	Artists                        int // of each range of time
	// MaxPage is the largest page (50), Window how many plays are kept (50).
	MaxPage, Window int
	// Rate is how many requests the app may make in 30 seconds; zero is no limit. Penalty is what
	// Retry-After says then; zero is until the window has room.
	Rate    int
	Penalty time.Duration

	// Token is the first access token; empty means one derived from Seed.
	Token string
	// Now is the clock of limits and of the Date header; nil means the wall clock.
	Now func() time.Time
	// Addr and ControlAddr are the loopback addresses of [Start]; empty means a free port.
	Addr, ControlAddr string
}

func (c *Config) fill() {
	if c.MaxPage == 0 {
		c.MaxPage = 50
	}
	if c.Window == 0 {
		c.Window = 50
	}
	if c.Token == "" {
		c.Token = fmt.Sprintf("BQ%016x", c.Seed)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
}

// Spotify is one simulated account. It is safe for concurrent use.
type Spotify struct {
	*providersim.Account
	cfg Config

	mu        sync.Mutex
	clock     time.Time
	choice    *rand.Rand
	lastID    int
	playlists []*playlist
	saved     []*saved
	plays     []play // oldest first
	top       map[string][]artist
	stranger  bool // the person is not among the app's users
	withheld  bool // saved albums, shows, episodes and audiobooks are refused
	asked     []time.Time
	refused   int
}

var _ providersim.Provider = (*Spotify)(nil)

// New returns an account generated from cfg.
func New(cfg Config) *Spotify {
	cfg.fill()
	s := &Spotify{
		cfg:    cfg,
		clock:  time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC),
		choice: rand.New(rand.NewPCG(cfg.Seed, 3)),
		top:    map[string][]artist{},
	}
	s.Account = providersim.NewAccount(providersim.NewTokens(cfg.Token, ScopePlaylists, ScopeCollaborative, ScopeLibrary, ScopeTop, ScopePlayed), providersim.GateOptions{Now: cfg.Now, ErrorBody: faultBody})
	s.Mount(s.routes())
	s.generate()
	return s
}

// Server is a running account.
type Server = providersim.Running[*Spotify]

// Start serves a new account and its control port on loopback.
func Start(cfg Config) (*Server, error) {
	return providersim.Start("spotify", New(cfg), cfg.Addr, cfg.ControlAddr)
}
