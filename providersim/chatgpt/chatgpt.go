package chatgpt

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/signin"
)

// Config sets what the account holds and how the site behaves. The zero value is an empty account without limits.
type Config struct {
	Seed                   uint64
	Chats, Projects        int
	Memories, GPTs, Shares int
	Long                   bool // the newest chat has a message of more than 1 MiB
	Workspace              string
	Start                  time.Time // of the newest chat; zero means 2026-05-01 12:00 UTC
	// DetailBurst and DetailEvery are the bucket of the detail call; zero means none.
	DetailBurst int
	DetailEvery time.Duration
	// BatchBurst and BatchEvery are that of the batch call.
	BatchBurst int
	BatchEvery time.Duration
	// NoBatch is the status that the batch call answers instead; OmitEvery leaves every n-th id out.
	NoBatch   int
	OmitEvery int
	// Deep is the offset from which lists are slow and fail; DeepFails is how often they do.
	Deep, DeepFails int
	// MaxPage bounds pages below 100, so that small accounts have several; zero means 100.
	MaxPage int
	// Signin is how a person gets in; its Cookie and Home are set here.
	Signin signin.Config
	// Now is the clock of limits and lives; nil means the wall clock.
	Now               func() time.Time
	Addr, ControlAddr string
}

// ChatGPT is one simulated account. It is safe for concurrent use.
type ChatGPT struct {
	cfg   Config
	site  *signin.Site
	gate  *providersim.Gate
	start time.Time

	mu       sync.Mutex
	clock    time.Time // logical time of the data
	chats    []simChat
	memories []accountThing
	gpts     []accountThing
	shares   []accountThing
	custom   instructions
	detail   hiddenBucket
	batch    hiddenBucket
	deep     int // failures so far
	strange  int // requests without the headers that a page sends
	picks    uint64
}

var _ providersim.Provider = (*ChatGPT)(nil)

// SessionCookie is the name of the cookie that being signed in is.
const SessionCookie = "__Secure-next-auth.session-token"

// New returns an account without a session.
func New(cfg Config) *ChatGPT {
	cfg.Start = cfg.Start.UTC()
	if cfg.Start.IsZero() {
		cfg.Start = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.MaxPage = cmp.Or(cfg.MaxPage, 100)
	cfg.Signin.Cookie, cfg.Signin.Now = SessionCookie, cfg.Now
	g := &ChatGPT{cfg: cfg, site: signin.New(cfg.Signin), start: cfg.Start, clock: cfg.Start}
	g.detail = newHiddenBucket(cfg.DetailBurst, cfg.DetailEvery)
	g.batch = newHiddenBucket(cfg.BatchBurst, cfg.BatchEvery)
	g.gate = providersim.NewGate(providersim.GateOptions{Now: cfg.Now, ErrorBody: refusalBody})
	g.generateAccount(cfg)
	return g
}

// Site is the sign-in in front of the account.
func (g *ChatGPT) Site() *signin.Site { return g.site }

// Gate returns the gate, which has faults and counters.
func (g *ChatGPT) Gate() *providersim.Gate { return g.gate }

// Handler serves the site.
func (g *ChatGPT) Handler() http.Handler {
	return g.site.Guard(g.setVisitorCookies(g.gate.Wrap(g.apiRoutes())))
}

// ControlHandler serves the control port.
func (g *ChatGPT) ControlHandler() http.Handler {
	return g.site.Control(providersim.ControlHandler(g, g.gate))
}

// ChangeToken lets the access tokens run out (expire) or ends every session (revoke).
func (g *ChatGPT) ChangeToken(c providersim.TokenChange) (providersim.TokenStatus, error) {
	return g.site.ChangeToken(c)
}

// Strange counts the requests that lack a header which the site's own page sends.
func (g *ChatGPT) Strange() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.strange
}

// Granted returns how many requests the bucket of the detail call has admitted.
func (g *ChatGPT) Granted() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.detail.granted
}

// Server is a running account.
type Server struct {
	*providersim.Server
	Sim *ChatGPT
}

// Start serves a new account and its control port on loopback.
func Start(cfg Config) (*Server, error) {
	g := New(cfg)
	s, err := providersim.Serve(cfg.Addr, g.Handler(), cfg.ControlAddr, g.ControlHandler())
	if err != nil {
		return nil, fmt.Errorf("start chatgpt: %w", err)
	}
	return &Server{Server: s, Sim: g}, nil
}

// listedChats are the chats that one list shows to a workspace, newest update first.
func (g *ChatGPT) listedChats(in func(*simChat) bool) []*simChat {
	var out []*simChat
	for i := range g.chats {
		if c := &g.chats[i]; (!c.deleted || c.lingers) && !c.unlisted && in(c) {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b *simChat) int {
		return cmp.Or(b.updated.Compare(a.updated), cmp.Compare(b.n, a.n))
	})
	return out
}

// hiddenBucket is an unannounced limit.
type hiddenBucket struct {
	burst   int
	every   time.Duration
	tokens  float64
	last    time.Time
	granted int
}

func newHiddenBucket(burst int, every time.Duration) hiddenBucket {
	return hiddenBucket{burst: burst, every: every, tokens: float64(burst)}
}

func (b *hiddenBucket) takeToken(now time.Time) bool {
	if b.burst == 0 {
		b.granted++
		return true
	}
	if !b.last.IsZero() && now.After(b.last) {
		b.tokens = min(float64(b.burst), b.tokens+float64(now.Sub(b.last))/float64(b.every))
	}
	b.last = now
	if b.tokens < 1-1e-9 {
		return false
	}
	b.tokens--
	b.granted++
	return true
}
