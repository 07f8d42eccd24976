package slack

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
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
	*providersim.Account
	cfg    Config
	signer providersim.Signer

	mu                       sync.Mutex
	choice                   *rand.Rand
	lastID                   int
	lastTS                   time.Time
	channels                 []*channel
	users                    []object
	files                    []*file
	groups, reminders, stars []object
	samples                  map[string]map[string]object // numbers of members by day
	expire                   int                          // cursors to refuse
	nameless                 bool                         // auth.test does not name the token's owner
	served                   int                          // pages of histories
	narrow                   bool
	sealed                   bool                   // threads may not be read
	asked                    map[string][]time.Time // by method
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
	s := &Slack{cfg: cfg, signer: providersim.NewSigner(cfg.Token), choice: rand.New(rand.NewPCG(cfg.Seed, 3)),
		asked: map[string][]time.Time{}, samples: map[string]map[string]object{}}
	s.Account = providersim.NewAccount(providersim.NewTokens(cfg.Token), providersim.GateOptions{Now: cfg.Now, ErrorBody: faultBody})
	s.Mount(s.routes())
	s.generate()
	return s
}

// Server is a running workspace.
type Server = providersim.Running[*Slack]

// Start serves a new workspace and its control port on loopback.
func Start(cfg Config) (*Server, error) {
	return providersim.Start("slack", New(cfg), cfg.Addr, cfg.ControlAddr)
}
