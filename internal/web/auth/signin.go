package auth

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/internal/keep/audit"
	"github.com/pdpp-go/pdpp/internal/ops/fault"
	"github.com/pdpp-go/pdpp/internal/web/strangers"
)

// SignIn opens a session for whoever knows the password; a *fault.Fault says why not.
// A session that the browser had before ends: its name is known to whoever put it there.
func (d *Auth) SignIn(w http.ResponseWriter, r *http.Request, password string) error {
	err := d.signIn(w, r, password)
	d.record(newcomer(r, err), audit.Entry{Kind: audit.SignIn, Object: string(ByPassword)}, err)
	return err
}

func (d *Auth) signIn(w http.ResponseWriter, r *http.Request, password string) error {
	key, known, err := d.whoTries(r)
	if err != nil {
		return err
	}
	return d.check(r.Context(), key, known, password, func(hash string) error { return d.open(w, r, hash, ByPassword) })
}

// check compares with the stored password, under the throttle, and then does what
// follows from a match. The right password is refused as well while its address waits.
func (d *Auth) check(ctx context.Context, key string, known bool, password string, then func(hash string) error) error {
	left, wait := d.tries.Admit(key, known, d.now())
	if wait > 0 {
		return pause(wait)
	}
	hash, err := d.storedHash(ctx)
	if err == nil && hash == "" {
		err = noPassword()
	}
	if err != nil {
		d.tries.Unused(key)
		return err
	}
	ok, err := d.matches(ctx, password, hash)
	switch {
	case err != nil:
		d.tries.Unused(key)
		return err
	case !ok:
		return wrong(left)
	}
	d.tries.Succeeded(key)
	if then == nil {
		return nil
	}
	return then(hash)
}

func wrong(left int) *fault.Fault {
	r := &fault.Fault{
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

func pause(wait time.Duration) *fault.Fault {
	wait = time.Duration(math.Ceil(wait.Seconds())) * time.Second
	return &fault.Fault{
		Status: http.StatusTooManyRequests, Code: CodeTooManyTries, RetryAfter: wait,
		Message: "Too many wrong passwords. Wait " + words(wait) + ", then try again.",
		Next:    "Forgot it? Set a new one on the machine that runs this server.",
	}
}

func words(d time.Duration) string {
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
	d.standing.Lock()
	defer d.standing.Unlock()
	_, err := d.store.Session(r.Context(), digest(token), d.now())
	was := err == nil
	if err := d.store.DropSession(r.Context(), digest(token)); err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("end the session: %w", err)
	}
	if was {
		leaving := Identity{Kind: BySession, session: digest(token), address: strangers.Origin(r)}
		d.record(with(r.Context(), leaving), audit.Entry{Kind: audit.SignOut}, nil)
	}
	return nil
}
