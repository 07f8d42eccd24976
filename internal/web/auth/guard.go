package auth

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/storage/audit"
	"github.com/pdpp-go/pdpp/internal/web/reply"
	"github.com/pdpp-go/pdpp/internal/web/tokenqueue"
)

// Pages admits only a signed-in owner to pages. Others are redirected to sign in and return afterwards. Event streams
// and sockets are rejected, because they cannot follow a redirect.
func (d *Auth) Pages(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, ok, err := d.authenticate(w, r)
		switch {
		case err != nil:
			d.failStore(w, r, err)
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

// Owner admits a signed-in owner or a program with an owner token to the API. A request with a token is judged only
// by the token and its scopes. A browser needs a fresh proof for operations that need a token with all scopes.
func (d *Auth) Owner(scope reply.Scope, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			who, ok, err := d.authenticateToken(r, bearerOf(r))
			switch {
			case err != nil:
				d.failStore(w, r, err)
			case !ok:
				refused := &usererr.Error{Code: "invalid_token"}
				d.record(signInContext(r, refused), audit.Entry{Kind: audit.SignIn, Object: "owner_token"}, refused)
				w.Header().Set("WWW-Authenticate", `Bearer realm="pdpp", error="invalid_token"`)
				unauthenticated(w, r, "This owner token is not good: it is unknown, expired or revoked.")
			case !scopesAllow(who.scopes, scope):
				insufficient(w, r, scope)
			default:
				who.address = tokenqueue.Origin(r)
				next.ServeHTTP(w, r.WithContext(withIdentity(r.Context(), who)))
			}
			return
		}
		ctx, ok, err := d.authenticate(w, r)
		switch {
		case err != nil:
			d.failStore(w, r, err)
		case !ok:
			w.Header().Set("WWW-Authenticate", `Bearer realm="pdpp"`)
			unauthenticated(w, r, "Only the owner may ask for this.")
		case !scopesAllow(defaultScopes, scope) && !d.Fresh(ctx):
			unconfirmed(w, r)
		default:
			next.ServeHTTP(w, r.WithContext(ctx))
		}
	})
}

// IsOwner reports whether a request has a valid owner token that may read.
func (d *Auth) IsOwner(r *http.Request) (bool, error) { return d.IsOwnerToken(r, bearerOf(r)) }

// IsOwnerToken is IsOwner for a token that arrived elsewhere than in a header.
func (d *Auth) IsOwnerToken(r *http.Request, token string) (bool, error) {
	who, ok, err := d.authenticateToken(r, token)
	return ok && scopesAllow(who.scopes, reply.ScopeRead), err
}

func bearerOf(r *http.Request) string {
	scheme, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(secret)
}

func unauthenticated(w http.ResponseWriter, r *http.Request, message string) {
	reply.WriteFailure(w, r, reply.TypeAuthentication, &usererr.Error{
		Status: http.StatusUnauthorized, Code: CodeUnauthenticated, Message: message,
		Next: "Sign in, or send an owner token: make one in the settings, or with pdpp tokens create.",
	})
}
