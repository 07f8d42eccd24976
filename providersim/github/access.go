package github

import (
	"net/http"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
)

const (
	// maxBadAttempts is how many refused tokens in a row lock the sign-in.
	maxBadAttempts = 5
	lockout        = 10 * time.Minute
)

// access is what the account's sign-in remembers.
type access struct {
	bad         int
	lockedUntil time.Time
	sso         string // "", "partial" or "required": what the organization demands
}

// bearer gives the Authorization header in its Bearer form: GitHub takes
// "token x" as well.
func bearer(r *http.Request) string {
	header := r.Header.Get("Authorization")
	if scheme, token, found := strings.Cut(header, " "); found && strings.EqualFold(scheme, "token") {
		return "Bearer " + token
	}
	return header
}

// admit judges who asks; a zero answer lets the request in.
func (g *GitHub) admit(r *http.Request) answer {
	now := g.now()
	switch state := g.Tokens.Check(bearer(r), ""); {
	case r.Header.Get("User-Agent") == "":
		return answer{status: http.StatusForbidden, value: sayAgent, header: http.Header{"Content-Type": {"text/plain"}}}
	case now.Before(g.access.lockedUntil):
		return refuse(http.StatusForbidden, "Maximum number of login attempts exceeded. Please try again later.", docsRest)
	case state != providersim.TokenActive:
		if g.access.bad++; g.access.bad >= maxBadAttempts {
			g.access.bad, g.access.lockedUntil = 0, now.Add(lockout)
		}
		return refuse(http.StatusUnauthorized, "Bad credentials", docsRest)
	}
	g.access.bad = 0
	return answer{}
}

// may reports whether the request's token has a scope.
func (g *GitHub) may(r *http.Request, scope string) bool {
	return g.Tokens.Check(bearer(r), scope) == providersim.TokenActive
}

// lacks refuses a fine-grained token without the permission. A classic token
// without the scope is let in and sees less.
func (g *GitHub) lacks(r *http.Request, scope string) (answer, bool) {
	if !g.cfg.FineGrained || g.may(r, scope) {
		return answer{}, false
	}
	return refuse(http.StatusForbidden, "Resource not accessible by personal access token", docsRest), true
}

// sees reports whether lists show the repository to the request's token.
func (g *GitHub) sees(r *http.Request, x *repo) bool {
	return !x.deleted && (!x.private || g.may(r, ScopeRepo)) && (g.access.sso == "" || x.owner != orgLogin)
}

// tellHoles marks a list from which single sign-on holds things back.
func (g *GitHub) tellHoles(a answer) answer {
	if g.access.sso != "" {
		a = a.with("X-GitHub-SSO", "partial-results; organizations=21955855")
	}
	return a
}
