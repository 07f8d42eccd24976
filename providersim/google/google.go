package google

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
)

// Scopes of a token.
const (
	ScopeCalendar = "https://www.googleapis.com/auth/calendar.readonly"
	ScopeContacts = "https://www.googleapis.com/auth/contacts.readonly"
	ScopeOthers   = "https://www.googleapis.com/auth/contacts.other.readonly"
)

// Config says what the simulated account holds and how strict its provider is. An account without calendars has only
// contacts, and the other way round.
type Config struct {
	Seed              uint64
	Calendars, Events int // Events of each calendar, of which every fourth is a series
	People, Others    int // Others were never saved as contacts
	Groups            int
	// MaxPage is the largest page whatever is asked for; zero is Google's own (2,500 events, 1,000 people).
	MaxPage int
	// Rate is how many requests a person may make in a minute; zero is no limit.
	Rate int

	// Testing says that the app is not published. Withheld is a scope that the person unticks.
	Testing  bool
	Withheld string

	// Token is the first access token; empty means one derived from Seed.
	Token string
	// Now is the clock of limits and of the Date header; nil means the wall clock.
	Now func() time.Time
	// Addr and ControlAddr are the loopback addresses of [Start]; empty means a free port.
	Addr, ControlAddr string
}

func (c *Config) fill() {
	if c.Token == "" {
		c.Token = fmt.Sprintf("ya29.%016x", c.Seed)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
}

// Google is one simulated account. It is safe for concurrent use.
type Google struct {
	*providersim.Account
	cfg    Config
	signer providersim.Signer

	mu        sync.Mutex
	clock     time.Time
	choice    *rand.Rand
	seq       int // of the last change
	epoch     int // tokens of an earlier one have ended
	lastID    int
	calendars []*calendar
	people    []*person // contacts
	others    []*person
	groups    []*group
	off       bool   // the APIs are not switched on in the project
	mail      string // of the person
	asked     []time.Time
	refused   int
	consent   consent
}

var _ providersim.Provider = (*Google)(nil)

// New returns an account generated from cfg.
func New(cfg Config) *Google {
	cfg.fill()
	g := &Google{
		cfg: cfg, signer: providersim.NewSigner(fmt.Sprint("google", cfg.Seed)),
		clock: time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC), choice: rand.New(rand.NewPCG(cfg.Seed, 3)), mail: "alba.lindqvist@example.com",
	}
	g.Account = providersim.NewAccount(providersim.NewTokens(cfg.Token, ScopeCalendar, ScopeContacts, ScopeOthers), providersim.GateOptions{Now: cfg.Now, ErrorBody: faultBody})
	g.Mount(g.routes())
	for range cfg.Calendars {
		g.addCalendar()
	}
	for range cfg.Groups {
		g.addGroup()
	}
	for range cfg.People {
		g.addPerson()
	}
	for range cfg.Others {
		g.addOther()
	}
	return g
}

// Server is a running account.
type Server = providersim.Running[*Google]

// Start serves a new account and its control port on loopback.
func Start(cfg Config) (*Server, error) {
	return providersim.Start("google", New(cfg), cfg.Addr, cfg.ControlAddr)
}
