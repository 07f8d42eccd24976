package auth

import (
	"context"
	"crypto/subtle"
	"fmt"
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/internal/web/tokenqueue"
)

const (
	sessionCookie = "pdpp_session"

	sessionLifetime = 30 * 24 * time.Hour
	sessionIdle     = 7 * 24 * time.Hour
	// renewEvery bounds how often the use of a session is written down.
	renewEvery = time.Hour
)

// What a session holds.
const (
	keyMark    = "password" // of the password that opened it
	keySeen    = "seen"     // seconds since 1970, as all times
	keyBegan   = "began"
	keyProved  = "proved"  // when the owner last showed that it is them
	keyMethod  = "method"  // how they signed in
	keyBrowser = "browser" // in words
	keyAddress = "address" // when it was last written down
)

// openSession begins a session under a new name.
func (d *Auth) openSession(w http.ResponseWriter, r *http.Request, hash string, by Method) error {
	ctx, err := d.sessions.Load(r.Context(), d.cookieOf(r, sessionCookie))
	if err != nil {
		return fmt.Errorf("read the session: %w", err)
	}
	if err := d.sessions.RenewToken(ctx); err != nil {
		return fmt.Errorf("rename the session: %w", err)
	}
	d.sessions.SetDeadline(ctx, d.now().Add(sessionLifetime).UTC())
	d.sessions.Put(ctx, keyMark, passwordMark(hash))
	d.sessions.Put(ctx, keyBegan, d.now().Unix())
	d.sessions.Put(ctx, keyProved, d.now().Unix())
	d.sessions.Put(ctx, keyMethod, string(by))
	d.sessions.Put(ctx, keyBrowser, browserWords(r.UserAgent()))
	if err := d.rememberBrowser(ctx, w, r); err != nil {
		return err
	}
	return d.prolongSession(w, r, ctx)
}

// prolongSession records that a session is in use, and sends the browser its cookie.
func (d *Auth) prolongSession(w http.ResponseWriter, r *http.Request, session context.Context) error {
	d.sessions.Put(session, keySeen, d.now().Unix())
	d.sessions.Put(session, keyAddress, tokenqueue.Origin(r))
	token, deadline, err := d.sessions.Commit(session)
	if err != nil {
		return fmt.Errorf("keep the session: %w", err)
	}
	d.setCookie(w, r, token, idleUntil(d.now(), deadline))
	return nil
}

// carrySession lets the session of a request outlive a change of the password.
func (d *Auth) carrySession(session context.Context, hash string) error {
	d.sessionMutex.Lock()
	defer d.sessionMutex.Unlock()
	d.sessions.Put(session, keyMark, passwordMark(hash))
	return d.saveSession(session)
}

// saveSession keeps what was put into the session of a request.
func (d *Auth) saveSession(session context.Context) error {
	if _, _, err := d.sessions.Commit(session); err != nil {
		return fmt.Errorf("keep the session: %w", err)
	}
	return nil
}

// authenticate returns the context of a signed-in owner's request, and false for others. Nothing is stored for
// visitors.
func (d *Auth) authenticate(w http.ResponseWriter, r *http.Request) (context.Context, bool, error) {
	token := d.cookieOf(r, sessionCookie)
	if token == "" {
		return nil, false, nil
	}
	session, ok, err := d.findSession(r, token)
	if err != nil || !ok {
		return nil, false, err
	}
	if d.now().Unix()-d.sessions.GetInt64(session, keySeen) >= int64(renewEvery/time.Second) {
		if session, ok, err = d.renewSession(w, r, token); err != nil || !ok {
			return nil, false, err
		}
	}
	return withIdentity(session, Identity{Kind: BySession, session: secretDigest(token), address: tokenqueue.Origin(r)}),
		true, nil
}

// findSession is load, in turn for a session that was not good before.
func (d *Auth) findSession(r *http.Request, token string) (session context.Context, ok bool, err error) {
	err = d.strangers.LookUp(r, token, func(ctx context.Context) (bool, error) {
		session, ok, err = d.loadSession(ctx, token)
		return ok, err
	})
	return session, ok, err
}

// loadSession finds a session that the current password opened.
func (d *Auth) loadSession(ctx context.Context, token string) (context.Context, bool, error) {
	session, err := d.sessions.Load(ctx, token)
	if err != nil {
		return nil, false, fmt.Errorf("read the session: %w", err)
	}
	mark := d.sessions.GetString(session, keyMark)
	if mark == "" {
		return nil, false, nil
	}
	hash, err := d.storedHash(ctx)
	if err != nil {
		return nil, false, err
	}
	return session, subtle.ConstantTimeCompare([]byte(mark), []byte(passwordMark(hash))) == 1, nil
}

// renewSession prolongs a session, unless it has ended meanwhile.
func (d *Auth) renewSession(w http.ResponseWriter, r *http.Request, token string) (context.Context, bool, error) {
	d.sessionMutex.Lock()
	defer d.sessionMutex.Unlock()
	session, ok, err := d.loadSession(r.Context(), token)
	if err != nil || !ok {
		return nil, false, err
	}
	return session, true, d.prolongSession(w, r, session)
}

func (d *Auth) setCookie(w http.ResponseWriter, r *http.Request, token string, until time.Time) {
	http.SetCookie(w, d.cookie(r, sessionCookie, token, int(until.Sub(d.now())/time.Second)))
}

func (d *Auth) clearCookie(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, d.cookie(r, sessionCookie, "", -1))
}
