package auth

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/storage/audit"
	"github.com/pdpp-go/pdpp/internal/web/tokenqueue"
)

// SignIn opens a session if the password is right, and otherwise returns a *usererr.Error. The browser's previous
// session ends, because an attacker may have planted it.
func (d *Auth) SignIn(w http.ResponseWriter, r *http.Request, password string) error {
	err := d.signIn(w, r, password)
	d.record(signInContext(r, err), audit.Entry{Kind: audit.SignIn, Object: string(ByPassword)}, err)
	return err
}

func (d *Auth) signIn(w http.ResponseWriter, r *http.Request, password string) error {
	key, known, err := d.attemptKey(r)
	if err != nil {
		return err
	}
	return d.checkPassword(r.Context(), key, known, password,
		func(hash string) error { return d.openSession(w, r, hash, ByPassword) })
}

// checkPassword compares with the stored password, under the throttle, and then does what
// follows from a match. The right password is refused as well while its address waits.
func (d *Auth) checkPassword(ctx context.Context, key string, known bool, password string,
	then func(hash string) error) error {
	left, wait := d.tries.Admit(key, known, d.now())
	if wait > 0 {
		return tooManyTries(wait)
	}
	hash, err := d.storedHash(ctx)
	if err == nil && hash == "" {
		err = noPassword()
	}
	if err != nil {
		d.tries.Unused(key)
		return err
	}
	ok, err := d.passwordMatches(ctx, password, hash)
	switch {
	case err != nil:
		d.tries.Unused(key)
		return err
	case !ok:
		return wrongPassword(left)
	}
	d.tries.Succeeded(key)
	if then == nil {
		return nil
	}
	return then(hash)
}

func wrongPassword(left int) *usererr.Error {
	r := &usererr.Error{
		Status: http.StatusUnauthorized, Code: CodeWrongPassword, Param: "password", Message: "That password is not right. ",
		Next: "Forgot it? Set a new one on the machine that runs this server.",
	}
	switch left {
	case 0:
		r.Message += "There is a short pause before the next try."
	case 1:
		r.Message += "1 try left before a short pause."
	default:
		r.Message += strconv.Itoa(left) + " tries left before a short pause."
	}
	return r
}

func tooManyTries(wait time.Duration) *usererr.Error {
	wait = time.Duration(math.Ceil(wait.Seconds())) * time.Second
	return &usererr.Error{
		Status: http.StatusTooManyRequests, Code: CodeTooManyTries, RetryAfter: wait,
		Message: "Too many wrong passwords. Wait " + durationWords(wait) + ", then try again.",
		Next:    "Forgot it? Set a new one on the machine that runs this server.",
	}
}

func durationWords(d time.Duration) string {
	if d <= time.Minute {
		return fmt.Sprintf("%d seconds", int(d.Seconds()))
	}
	return fmt.Sprintf("%d minutes", int(math.Ceil(d.Minutes())))
}

// SignOut ends the session that the browser has, if it has one.
func (d *Auth) SignOut(w http.ResponseWriter, r *http.Request) error {
	token := d.cookieOf(r, sessionCookie)
	d.clearCookie(w, r)
	if token == "" {
		return nil
	}
	d.sessionMutex.Lock()
	defer d.sessionMutex.Unlock()
	_, err := d.store.Session(r.Context(), secretDigest(token), d.now())
	was := err == nil
	if err := d.store.DropSession(r.Context(), secretDigest(token)); err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("end the session: %w", err)
	}
	if was {
		leaving := Identity{Kind: BySession, session: secretDigest(token), address: tokenqueue.Origin(r)}
		d.record(withIdentity(r.Context(), leaving), audit.Entry{Kind: audit.SignOut}, nil)
	}
	return nil
}
