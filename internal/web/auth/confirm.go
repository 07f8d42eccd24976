package auth

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/pdpp-go/pdpp/internal/keep/audit"
	"github.com/pdpp-go/pdpp/internal/ops/fault"
	"github.com/pdpp-go/pdpp/internal/web/reply"
)

// confirmation is what the audit trail calls it when a browser shows anew who it is.
const confirmation = "confirmation"

// freshFor is how long a proof counts for what gives somebody a new way in.
const freshFor = 10 * time.Minute

// Fresh says whether whoever asks has shown lately that they are the owner: a browser
// by its password, a passkey or a recovery code, a token by what it may do.
func (d *Auth) Fresh(ctx context.Context) bool {
	who, ok := From(ctx)
	switch {
	case !ok:
		return false
	case who.Kind == ByToken:
		return allowed(who.scopes, reply.ScopeAll)
	default:
		return d.now().Sub(time.Unix(d.sessions.GetInt64(ctx, keyProved), 0)) < freshFor
	}
}

// Confirmed lets a signed-in owner through who has shown lately that it is them, and
// sends anybody else to do so. It stands within Pages.
func (d *Auth) Confirmed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if d.Fresh(r.Context()) {
			next.ServeHTTP(w, r)
			return
		}
		to := confirmPath + "?" + url.Values{"next": {pageOf(r)}}.Encode()
		if r.Header.Get("HX-Request") == "true" {
			w.Header().Set("HX-Redirect", to)
			w.WriteHeader(http.StatusForbidden)
			return
		}
		http.Redirect(w, r, to, http.StatusSeeOther)
	})
}

// pageOf is the page that a request was sent from, or its own.
func pageOf(r *http.Request) string {
	if r.Method == http.MethodGet {
		return localPath(r.URL.RequestURI())
	}
	from, err := url.Parse(r.Referer())
	if err != nil || from.Host != r.Host {
		return "/settings/sign-in"
	}
	return localPath((&url.URL{Path: from.Path, RawQuery: from.RawQuery}).RequestURI())
}

// Confirm takes the password of a signed-in owner once more; a *fault.Fault says why not.
func (d *Auth) Confirm(ctx context.Context, password string) error {
	who, _ := From(ctx)
	err := d.check(ctx, "confirm "+who.key(), true, password, func(string) error { return d.proved(ctx) })
	d.record(ctx, audit.Entry{Kind: audit.SignIn, Object: confirmation}, err)
	return err
}

// proved notes in the session of a request that the owner has just shown that it is them.
func (d *Auth) proved(ctx context.Context) error {
	who, _ := From(ctx)
	d.standing.Lock()
	defer d.standing.Unlock()
	if _, err := d.store.Session(ctx, who.session, d.now()); err != nil {
		return fmt.Errorf("read the session: %w", err) // one that has ended stays so
	}
	d.sessions.Put(ctx, keyProved, d.now().Unix())
	return d.write(ctx)
}

// MayConfirmPrograms returns why this caller may not decide that a program runs on this machine. A browser
// may after a fresh proof; a token, which programs and other machines hold, may not, whatever else it may do.
func (d *Auth) MayConfirmPrograms(ctx context.Context, connector string) error {
	who, ok := From(ctx)
	switch {
	case !ok:
		return nil // asked within this process
	case who.Kind == ByToken:
		return &fault.Fault{
			Status: http.StatusForbidden, Code: CodeConfirmOnMachine,
			Message: "This connector is not built in, and you have not confirmed it. A token cannot do that.",
			Next: "See what it asks for, and let it run, on the server's machine: pdpp connectors confirm " + connector +
				". Or connect it in the console.",
		}
	case !d.Fresh(ctx):
		return needsProof()
	}
	return nil
}

func needsProof() *fault.Fault {
	return &fault.Fault{
		Status: http.StatusForbidden, Code: CodeConfirm, Message: "This needs your password or a passkey once more.",
		Next: "Confirm at " + confirmPath + ", then ask again within ten minutes.",
	}
}

func unconfirmed(w http.ResponseWriter, r *http.Request) {
	reply.Fail(w, r, reply.TypePermission, needsProof())
}
