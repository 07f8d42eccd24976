// Package auth says who is asking: the owner at a browser, by a password and a
// session, or a program of the owner's, by an owner token. Nothing that opens a
// it is kept as it is: passwords rest as argon2id, sessions and tokens as SHA-256.
package auth

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/alexedwards/scs/v2"

	"github.com/pdpp-go/pdpp/internal/keep/audit"
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/ops/fault"
	"github.com/pdpp-go/pdpp/internal/web/reply"
	"github.com/pdpp-go/pdpp/internal/web/strangers"
)

// Store is what sign-in keeps; every store.Store is one.
type Store interface {
	store.Entries
	Setting(ctx context.Context, name string) ([]byte, error)
	PutSetting(ctx context.Context, name string, value []byte, now time.Time) error
	InitSetting(ctx context.Context, name string, value []byte, now time.Time) ([]byte, error)
}

// Config is what sign-in is made of.
type Config struct {
	Store Store
	Now   func() time.Time
	// Base is the address that owners reach this server by; empty means that of the
	// listener. With https the browser comes by TLS, whatever the connection that
	// arrives here is.
	Base string
	// HashCost is that of new passwords; zero means the usual one. What is less is for
	// tests alone, which make many.
	HashCost HashCost
	// Audit is told who came in, who was refused, and what lets the owner in from now on;
	// nil means nobody.
	Audit *audit.Trail
	// Log gets the trouble that nobody is told of; nil means nobody.
	Log *slog.Logger
}

// Auth lets the owner in. It is safe for concurrent use.
type Auth struct {
	store    Store
	now      func() time.Time
	origin   string // of the base address; empty when there is none
	log      *slog.Logger
	audit    *audit.Trail
	sessions *scs.SessionManager
	tries    *strangers.Throttle
	// strangers is where those wait whose token or session was not good before.
	strangers *strangers.Line
	spent     *spentChallenges
	cost      HashCost      // of new passwords
	hashing   chan struct{} // holds one word per hash that is being made
	waiting   chan struct{} // holds one word per caller that waits for a hash

	// standing makes prolonging and ending a session exclude each other: a session
	// that has ended must not be written back by a request that was under way.
	standing sync.Mutex
}

// New makes an Auth. Setup must have run before anybody can come in.
func New(c Config) *Auth {
	d := &Auth{
		store: c.Store, now: c.Now, origin: originOf(c.Base), log: c.Log, audit: c.Audit, tries: strangers.NewThrottle(), strangers: strangers.NewLine(), spent: &spentChallenges{},
		cost: cmp.Or(c.HashCost, usualCost), hashing: make(chan struct{}, maxHashing), waiting: make(chan struct{}, maxWaiting),
	}
	if d.now == nil {
		d.now = time.Now
	}
	if d.log == nil {
		d.log = slog.New(slog.DiscardHandler)
	}
	d.sessions = scs.New()
	d.sessions.Store = sessionStore{store: c.Store, now: d.now}
	d.sessions.Lifetime = sessionLifetime
	return d
}

// digest is how a secret that is random already rests.
func digest(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

// Strangers is the line of all who show something that was not good before, for the
// other surfaces of the same server.
func (d *Auth) Strangers() *strangers.Line { return d.strangers }

// trouble answers for a store that failed, and for a line that is full.
func (d *Auth) trouble(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, strangers.ErrCrowded) {
		w.Header().Set("Retry-After", "1")
		reply.Fail(w, r, reply.TypeRateLimit, &fault.Fault{
			Status: http.StatusTooManyRequests, Code: "rate_limit_exceeded", Message: "Too many requests from this address wait to be told apart.",
			Next: "Try again in a moment.",
		})
		return
	}
	if r.Context().Err() == nil {
		d.log.ErrorContext(r.Context(), "cannot tell who is asking", "request_id", reply.RequestID(r.Context()), "error", err)
	}
	reply.Fail(w, r, reply.TypeAPI, &fault.Fault{
		Status: http.StatusServiceUnavailable, Code: "storage_unavailable", Message: "The database does not answer.",
		Next: "Try again in a moment. pdpp doctor says what is wrong.",
	})
}
