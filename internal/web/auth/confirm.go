package auth

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/storage/audit"
	"github.com/pdpp-go/pdpp/internal/web/reply"
)

// confirmation is the audit trail's name for a browser's renewed proof of identity.
const confirmation = "confirmation"

// proofLifetime is how long a proof is valid for operations that add a way to sign in.
const proofLifetime = 10 * time.Minute

// Fresh reports whether the caller recently proved to be the owner: a browser by password, passkey or recovery code,
// a token by its scope.
func (d *Auth) Fresh(ctx context.Context) bool {
	who, ok := From(ctx)
	switch {
	case !ok:
		return false
	case who.Kind == ByToken:
		return scopesAllow(who.scopes, reply.ScopeAll)
	default:
		return d.now().Sub(time.Unix(d.sessions.GetInt64(ctx, keyProved), 0)) < proofLifetime
	}
}

// Confirmed admits a signed-in owner with a recent proof, and redirects others to provide one. Use it within Pages.
func (d *Auth) Confirmed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if d.Fresh(r.Context()) {
			next.ServeHTTP(w, r)
			return
		}
		to := confirmPath + "?" + url.Values{"next": {returnPage(r)}}.Encode()
		if r.Header.Get("HX-Request") == "true" {
			w.Header().Set("HX-Redirect", to)
			w.WriteHeader(http.StatusForbidden)
			return
		}
		http.Redirect(w, r, to, http.StatusSeeOther)
	})
}

// returnPage is the page that a request was sent from, or its own.
func returnPage(r *http.Request) string {
	if r.Method == http.MethodGet {
		return localPath(r.URL.RequestURI())
	}
	from, err := url.Parse(r.Referer())
	if err != nil || from.Host != r.Host {
		return "/settings/sign-in"
	}
	return localPath((&url.URL{Path: from.Path, RawQuery: from.RawQuery}).RequestURI())
}

// Confirm checks the password of a signed-in owner again. It returns a *usererr.Error if it is wrong.
func (d *Auth) Confirm(ctx context.Context, password string) error {
	who, _ := From(ctx)
	err := d.checkPassword(ctx, "confirm "+who.key(), true, password, func(string) error { return d.recordProof(ctx) })
	d.record(ctx, audit.Entry{Kind: audit.SignIn, Object: confirmation}, err)
	return err
}

// recordProof notes in the session of a request that the owner has just shown that it is them.
func (d *Auth) recordProof(ctx context.Context) error {
	who, _ := From(ctx)
	d.sessionMutex.Lock()
	defer d.sessionMutex.Unlock()
	if _, err := d.store.Session(ctx, who.session, d.now()); err != nil {
		return fmt.Errorf("read the session: %w", err) // one that has ended stays so
	}
	d.sessions.Put(ctx, keyProved, d.now().Unix())
	return d.saveSession(ctx)
}

// MayConfirmPrograms returns why this caller may not decide that a program runs on this machine. A browser
// may after a fresh proof; a token, which programs and other machines hold, may not, whatever else it may do.
func (d *Auth) MayConfirmPrograms(ctx context.Context, connector string) error {
	who, ok := From(ctx)
	switch {
	case !ok:
		return nil // asked within this process
	case who.Kind == ByToken:
		return &usererr.Error{
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

// MayAddSources returns why this caller may not add a source from a file. Such a file is no program: this program
// makes its requests, to the hosts that the owner reviewed. A token needs the scope all, and a browser a fresh proof.
func (d *Auth) MayAddSources(ctx context.Context) error {
	if _, ok := From(ctx); ok && !d.Fresh(ctx) {
		return needsProof()
	}
	return nil // within this process, or proved
}

func needsProof() *usererr.Error {
	return &usererr.Error{
		Status: http.StatusForbidden, Code: CodeConfirm, Message: "This needs your password or a passkey once more.",
		Next: "Confirm at " + confirmPath + ", then ask again within ten minutes.",
	}
}

func unconfirmed(w http.ResponseWriter, r *http.Request) {
	reply.WriteFailure(w, r, reply.TypePermission, needsProof())
}
