package auth

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/pdpp-go/pdpp/internal/keep/audit"
	"github.com/pdpp-go/pdpp/internal/ops/fault"
	"github.com/pdpp-go/pdpp/internal/web/reply"
	"github.com/pdpp-go/pdpp/internal/web/strangers"
)

// Pages lets only a signed-in owner at pages. Anybody else is sent to sign in and
// comes back to where they were going; a stream of events or a socket is refused, since
// nobody reads a redirect there.
func (d *Auth) Pages(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, ok, err := d.enter(w, r)
		switch {
		case err != nil:
			d.trouble(w, r, err)
		case ok:
			next.ServeHTTP(w, r.WithContext(ctx))
		case r.Header.Get("HX-Request") == "true":
			w.Header().Set("HX-Redirect", loginAddress(r))
			w.WriteHeader(http.StatusUnauthorized)
		case strings.Contains(r.Header.Get("Accept"), "text/event-stream"), r.Header.Get("Upgrade") != "":
			unauthenticated(w, r, "Your session has ended.")
		default:
			http.Redirect(w, r, loginAddress(r), http.StatusSeeOther)
		}
	})
}

// loginAddress remembers which page to go back to: the one in the browser's bar.
func loginAddress(r *http.Request) string {
	back := ""
	if page, err := url.Parse(r.Header.Get("HX-Current-URL")); r.Header.Get("HX-Request") == "true" && err == nil {
		back = (&url.URL{Path: page.Path, RawQuery: page.RawQuery}).RequestURI()
	} else if r.Method == http.MethodGet || r.Method == http.MethodHead {
		back = r.URL.RequestURI()
	}
	if back = localPath(back); back == "/" {
		return loginPath
	}
	return loginPath + "?" + url.Values{"next": {back}}.Encode()
}

// Owner lets a signed-in owner or a program with an owner token at answers for
// programs. Who sends a token is judged by it alone, and by what it may do; a browser
// has to show anew that it is the owner for what only a token for everything may do.
func (d *Auth) Owner(scope reply.Scope, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			who, ok, err := d.token(r, bearerOf(r))
			switch {
			case err != nil:
				d.trouble(w, r, err)
			case !ok:
				refused := &fault.Fault{Code: "invalid_token"}
				d.record(newcomer(r, refused), audit.Entry{Kind: audit.SignIn, Object: "owner_token"}, refused)
				w.Header().Set("WWW-Authenticate", `Bearer realm="pdpp", error="invalid_token"`)
				unauthenticated(w, r, "This owner token is not good: it is unknown, expired or revoked.")
			case !allowed(who.scopes, scope):
				insufficient(w, r, scope)
			default:
				who.address = strangers.Origin(r)
				next.ServeHTTP(w, r.WithContext(with(r.Context(), who)))
			}
			return
		}
		ctx, ok, err := d.enter(w, r)
		switch {
		case err != nil:
			d.trouble(w, r, err)
		case !ok:
			w.Header().Set("WWW-Authenticate", `Bearer realm="pdpp"`)
			unauthenticated(w, r, "Only the owner may ask for this.")
		case !allowed(everyday, scope) && !d.Fresh(ctx):
			unconfirmed(w, r)
		default:
			next.ServeHTTP(w, r.WithContext(ctx))
		}
	})
}

// IsOwner says whether a request carries a good owner token that may read.
func (d *Auth) IsOwner(r *http.Request) (bool, error) { return d.IsOwnerToken(r, bearerOf(r)) }

// IsOwnerToken is IsOwner for a token that arrived elsewhere than in a header.
func (d *Auth) IsOwnerToken(r *http.Request, token string) (bool, error) {
	who, ok, err := d.token(r, token)
	return ok && allowed(who.scopes, reply.ScopeRead), err
}

func bearerOf(r *http.Request) string {
	scheme, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(secret)
}

func unauthenticated(w http.ResponseWriter, r *http.Request, message string) {
	reply.Fail(w, r, reply.TypeAuthentication, &fault.Fault{
		Status: http.StatusUnauthorized, Code: CodeUnauthenticated, Message: message,
		Next: "Sign in, or send an owner token: make one in the settings, or with pdpp tokens create.",
	})
}
