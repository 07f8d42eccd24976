// Package auth identifies the caller: the owner in a browser by password and session, or a program of the owner by
// owner token. Secrets are never stored in plain text: passwords as argon2id, sessions and tokens as SHA-256.
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

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/storage/audit"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/web/reply"
	"github.com/pdpp-go/pdpp/internal/web/tokenqueue"
)

// Store is what sign-in keeps; every store.Store is one.
type Store interface {
	store.OwnerAccess
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
	// HashCost is the cost of new passwords; zero means the default. Lower costs are for tests.
	HashCost HashCost
	// Audit records sign-ins, refusals and changes of what lets the owner in; nil disables it.
	Audit *audit.Trail
	// Log receives errors that have no caller to return to. Nil discards them.
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
	tries    *tokenqueue.Throttle
	// strangers queues callers with a token or session that was not valid before.
	strangers *tokenqueue.Queue
	spent     *spentChallenges
	cost      HashCost      // of new passwords
	hashing   chan struct{} // holds one word per hash that is being made
	waiting   chan struct{} // holds one word per caller that waits for a hash

	// sessionMutex serializes prolonging and ending a session: a request in progress must not restore an ended session.
	sessionMutex sync.Mutex
}

// New returns an Auth. Setup must run before anyone can sign in.
func New(c Config) *Auth {
	d := &Auth{
		store: c.Store, now: c.Now, origin: originOf(c.Base), log: c.Log, audit: c.Audit, tries: tokenqueue.NewThrottle(),
		strangers: tokenqueue.NewQueue(), spent: &spentChallenges{},
		cost: cmp.Or(c.HashCost, usualCost), hashing: make(chan struct{}, maxHashing),
		waiting: make(chan struct{}, maxWaiting),
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

// secretDigest is how a secret that is random already rests.
func secretDigest(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

// Strangers is the line of all who show something that was not good before, for the
// other surfaces of the same server.
func (d *Auth) Strangers() *tokenqueue.Queue { return d.strangers }

// failStore answers for a store that failed, and for a line that is full.
func (d *Auth) failStore(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, tokenqueue.ErrQueueFull) {
		w.Header().Set("Retry-After", "1")
		reply.WriteFailure(w, r, reply.TypeRateLimit, &usererr.Error{
			Status: http.StatusTooManyRequests, Code: "rate_limit_exceeded",
			Message: "Too many requests from this address wait to be told apart.",
			Next:    "Try again in a moment.",
		})
		return
	}
	if r.Context().Err() == nil {
		d.log.ErrorContext(r.Context(), "cannot tell who is asking", "request_id", reply.RequestID(r.Context()), "error", err)
	}
	reply.WriteFailure(w, r, reply.TypeAPI, &usererr.Error{
		Status: http.StatusServiceUnavailable, Code: "storage_unavailable", Message: "The database does not answer.",
		Next: "Try again in a moment. pdpp doctor says what is wrong.",
	})
}
