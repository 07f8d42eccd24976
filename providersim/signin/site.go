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

// Config sets who can sign in and how.
type Config struct {
	// Seed determines every cookie and code; equal seeds have equal ones.
	Seed uint64
	// Accounts lists the accounts; empty means [Person].
	Accounts []Account
	// Second is the second step; empty means none.
	Second Step
	// SessionLife is how long a sign-in lasts; zero means 30 days. BearerLife is how long an
	// access token does; zero means ten minutes.
	SessionLife, BearerLife time.Duration
	// SessionOnly omits the expiry of the cookie, so that a browser drops it when it closes.
	SessionOnly bool
	// Cookie names the session's cookie; empty means "__Secure-session".
	Cookie string
	// Home is the address after a sign-in; empty means "/".
	Home string
	// Now is the clock; nil means the wall clock.
	Now func() time.Time
}

// Person is the default account of a site.
var Person = Account{ID: "user-rowan-01", Name: "Rowan Ashgrove", Email: "rowan@example.org", Password: "fern-gully-41"}

// Site is the sign-in of one provider. It is safe for concurrent use.
type Site struct {
	cfg Config
	key string

	mu       sync.Mutex
	made     int // cookies, tokens and codes so far
	accounts []Account
	wrong    map[string]int // by account id
	sessions map[string]*siteSession
	halves   map[string]*halfSession // people between password and second step, by cookie
	cleared  map[string]string
	order    Order // what stays set
	count    Count
}

// siteSession is one sign-in.
type siteSession struct {
	account string
	until   time.Time
	bearer  string
	expires time.Time // of the bearer
	old     []string  // bearers that have run out
}

// halfSession is a person who entered the right password.
type halfSession struct {
	account  string
	code     string // for email
	approved bool
}

// New returns a site without sessions.
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
		sessions: map[string]*siteSession{}, halves: map[string]*halfSession{}, cleared: map[string]string{},
		order: Order{Second: cfg.Second, Page: Form, Wall: WallDown},
	}
}

// Cookie is the name of the session's cookie.
func (s *Site) Cookie() string { return s.cfg.Cookie }

// SignIn signs an account in without a page, for tests that have no browser. It returns the cookie.
func (s *Site) SignIn(account string) (*http.Cookie, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.ContainsFunc(s.accounts, func(a Account) bool { return a.ID == account }) {
		return nil, fmt.Errorf("no account %q", account)
	}
	return s.startSession(account), nil
}

// startSession starts a session.
func (s *Site) startSession(account string) *http.Cookie {
	value := s.deriveSecret("session")
	s.sessions[value] = &siteSession{account: account, until: s.cfg.Now().Add(s.cfg.SessionLife)}
	s.count.SignIns++
	c := s.newCookie(s.cfg.Cookie, value)
	if !s.cfg.SessionOnly {
		c.MaxAge = int(s.cfg.SessionLife / time.Second)
	}
	return c
}

func (s *Site) newCookie(name, value string) *http.Cookie {
	return &http.Cookie{Name: name, Value: value, Path: "/", HttpOnly: true, Secure: true, SameSite: http.SameSiteLaxMode}
}

// deriveSecret derives a fresh value.
func (s *Site) deriveSecret(purpose string) string {
	s.made++
	return derivedText(s.key, purpose, s.made)
}

// Account returns the owner of the request's session cookie; false when there is no session.
func (s *Site) Account(r *http.Request) (Account, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	live := s.liveSession(r)
	if live == nil {
		return Account{}, false
	}
	return s.accountByID(live.account)
}

func (s *Site) accountByID(id string) (Account, bool) {
	i := slices.IndexFunc(s.accounts, func(a Account) bool { return a.ID == id })
	if i < 0 {
		return Account{}, false
	}
	return s.accounts[i], true
}

// liveSession is the live one of a request.
func (s *Site) liveSession(r *http.Request) *siteSession {
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

// Authorize reads the access token of a request. It is valid only together with the cookie of its session, as a
// page's own calls have both.
func (s *Site) Authorize(r *http.Request) (Account, Access) {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok || token == "" {
		return Account{}, Missing
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	live := s.liveSession(r)
	for _, x := range s.sessions {
		if slices.Contains(x.old, token) || x.bearer == token && (x != live || !s.cfg.Now().Before(x.expires)) {
			return Account{}, Expired
		}
	}
	if live == nil || live.bearer != token {
		return Account{}, Malformed
	}
	a, _ := s.accountByID(live.account)
	return a, Granted
}

// accessTokenOf returns a session's access token, and issues a new one when the last has expired.
func (s *Site) accessTokenOf(x *siteSession) string {
	if now := s.cfg.Now(); x.bearer == "" || !now.Before(x.expires) {
		if x.bearer != "" {
			x.old = append(x.old, x.bearer)
		}
		x.bearer, x.expires = "eyJ."+s.deriveSecret("bearer"), now.Add(s.cfg.BearerLife)
		s.count.Bearers++
	}
	return x.bearer
}
