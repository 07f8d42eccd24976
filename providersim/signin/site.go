package signin

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Config says who can sign in and how.
type Config struct {
	// Seed makes every cookie and code; equal seeds give equal ones.
	Seed uint64
	// Accounts are who exists; none means [Person].
	Accounts []Account
	// Second is the second step; empty means none.
	Second Step
	// SessionLife is how long a sign-in lasts; zero means 30 days. BearerLife is how long an
	// access token does; zero means ten minutes.
	SessionLife, BearerLife time.Duration
	// SessionOnly gives the cookie no end, so that a browser drops it when it closes.
	SessionOnly bool
	// Cookie names the session's cookie; empty means "__Secure-session".
	Cookie string
	// Home is where somebody who has signed in is sent; empty means "/".
	Home string
	// Now is the clock; nil means the wall clock.
	Now func() time.Time
}

// Person is the account of a site that names none.
var Person = Account{ID: "user-rowan-01", Name: "Rowan Ashgrove", Email: "rowan@example.org", Password: "fern-gully-41"}

// Site is the sign-in of one provider. It is safe for concurrent use.
type Site struct {
	cfg Config
	key string

	mu       sync.Mutex
	made     int // cookies, tokens and codes so far
	accounts []Account
	wrong    map[string]int // by account id
	sessions map[string]*session
	halves   map[string]*half // people between password and second step, by cookie
	cleared  map[string]string
	order    Order // what stays set
	count    Count
}

// session is one sign-in.
type session struct {
	account string
	until   time.Time
	bearer  string
	expires time.Time // of the bearer
	old     []string  // bearers that have run out
}

// half is a person whose password was right.
type half struct {
	account  string
	code     string // for email
	approved bool
}

// New makes a site where nobody is signed in.
func New(cfg Config) *Site {
	if len(cfg.Accounts) == 0 {
		cfg.Accounts = []Account{Person}
	}
	cfg.Cookie, cfg.Home = cmp.Or(cfg.Cookie, "__Secure-session"), cmp.Or(cfg.Home, "/")
	cfg.Second = cmp.Or(cfg.Second, None)
	cfg.SessionLife, cfg.BearerLife = cmp.Or(cfg.SessionLife, 30*24*time.Hour), cmp.Or(cfg.BearerLife, 10*time.Minute)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Site{
		cfg: cfg, key: fmt.Sprintf("signin %d", cfg.Seed), accounts: slices.Clone(cfg.Accounts), wrong: map[string]int{},
		sessions: map[string]*session{}, halves: map[string]*half{}, cleared: map[string]string{},
		order: Order{Second: cfg.Second, Page: Form, Wall: WallDown},
	}
}

// Cookie is the name of the session's cookie.
func (s *Site) Cookie() string { return s.cfg.Cookie }

// SignIn signs an account in without a page, for tests that have no browser. It gives the
// cookie.
func (s *Site) SignIn(account string) (*http.Cookie, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.ContainsFunc(s.accounts, func(a Account) bool { return a.ID == account }) {
		return nil, fmt.Errorf("no account %q", account)
	}
	return s.begin(account), nil
}

// begin starts a session.
func (s *Site) begin(account string) *http.Cookie {
	value := s.make("session")
	s.sessions[value] = &session{account: account, until: s.cfg.Now().Add(s.cfg.SessionLife)}
	s.count.SignIns++
	c := s.cookie(s.cfg.Cookie, value)
	if !s.cfg.SessionOnly {
		c.MaxAge = int(s.cfg.SessionLife / time.Second)
	}
	return c
}

func (s *Site) cookie(name, value string) *http.Cookie {
	return &http.Cookie{Name: name, Value: value, Path: "/", HttpOnly: true, Secure: true, SameSite: http.SameSiteLaxMode}
}

// make derives a fresh value.
func (s *Site) make(purpose string) string {
	s.made++
	return digest(s.key, purpose, s.made)
}

// Account is who the request's cookie belongs to; false when nobody is signed in by it.
func (s *Site) Account(r *http.Request) (Account, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	live := s.session(r)
	if live == nil {
		return Account{}, false
	}
	return s.account(live.account)
}

func (s *Site) account(id string) (Account, bool) {
	i := slices.IndexFunc(s.accounts, func(a Account) bool { return a.ID == id })
	if i < 0 {
		return Account{}, false
	}
	return s.accounts[i], true
}

// session is the live one of a request.
func (s *Site) session(r *http.Request) *session {
	c, err := r.Cookie(s.cfg.Cookie)
	if err != nil {
		return nil
	}
	live := s.sessions[c.Value]
	if live == nil || !s.cfg.Now().Before(live.until) {
		return nil
	}
	return live
}

// Access is what a request's access token is worth.
type Access string

const (
	Granted   Access = "granted"
	Expired   Access = "expired"   // it was good once
	Malformed Access = "malformed" // it never was
	Missing   Access = "missing"
)

// Authorize reads the access token of a request. It counts for the session of the same
// request alone, as a page's own calls have both.
func (s *Site) Authorize(r *http.Request) (Account, Access) {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok || token == "" {
		return Account{}, Missing
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	live := s.session(r)
	for _, x := range s.sessions {
		if slices.Contains(x.old, token) || x.bearer == token && (x != live || !s.cfg.Now().Before(x.expires)) {
			return Account{}, Expired
		}
	}
	if live == nil || live.bearer != token {
		return Account{}, Malformed
	}
	a, _ := s.account(live.account)
	return a, Granted
}

// bearerOf gives a session's access token, a new one when the last has run out.
func (s *Site) bearerOf(x *session) string {
	if now := s.cfg.Now(); x.bearer == "" || !now.Before(x.expires) {
		if x.bearer != "" {
			x.old = append(x.old, x.bearer)
		}
		x.bearer, x.expires = "eyJ."+s.make("bearer"), now.Add(s.cfg.BearerLife)
		s.count.Bearers++
	}
	return x.bearer
}
