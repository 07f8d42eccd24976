package github

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
)

// endpoint answers one admitted request. It runs under the account's lock.
type endpoint func(r *http.Request) answer

func (g *GitHub) routes() *http.ServeMux {
	mux := http.NewServeMux()
	core := func(pattern string, serve endpoint) { mux.HandleFunc(pattern, g.handle("core", serve)) }
	core("GET /user", func(*http.Request) answer {
		if day := g.now().UTC().Format(time.DateOnly); g.figures[day] == nil {
			g.figures[day] = g.userObject()
		}
		return ok(g.userObject())
	})
	core("GET /user/repos", g.serveRepos)
	core("GET /user/starred", g.serveStars)
	core("GET /issues", g.serveIssues)
	core("GET /gists", g.serveGists)
	core("GET /users/{login}/events", g.serveEvents)
	core("GET /repos/{owner}/{repo}/pulls/{number}", g.servePull)
	core("GET /repositories/{id}/pulls/{number}", g.servePull)
	core("GET /repos/{owner}/{repo}/issues/{number}", g.serveIssue)
	mux.HandleFunc("GET /search/issues", g.handle("search", g.serveSearch))
	mux.HandleFunc("GET /rate_limit", g.handle("", g.serveRateLimit))
	core("/", func(*http.Request) answer { return notFound() })
	return mux
}

// handle does what all endpoints share. A resource of "" is not counted.
func (g *GitHub) handle(resource string, serve endpoint) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		defer g.mu.Unlock()
		a := g.admit(r)
		signedIn := a.status == 0
		if signedIn && resource != "" {
			a = g.spend(resource)
		}
		if a.status == 0 {
			a = serve(r)
			g.churn(r)
		}
		if signedIn && !g.cfg.FineGrained {
			w.Header().Set("X-OAuth-Scopes", strings.Join(g.scopes(), ", "))
		}
		body := []byte(nil)
		if text, plain := a.value.(string); plain {
			body = []byte(text)
		} else {
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			body = providersim.EncodeJSON(a.value)
		}
		maps.Copy(w.Header(), a.header)
		if a.status == http.StatusOK {
			a.status, body = g.validate(w, r, resource, body)
		}
		if signedIn && resource != "" {
			g.announce(w.Header(), resource)
		}
		w.WriteHeader(a.status)
		_, _ = w.Write(body)
	}
}

// validate gives the answer its ETag. A request that names it gets 304 and its
// cost back.
func (g *GitHub) validate(w http.ResponseWriter, r *http.Request, resource string, body []byte) (int, []byte) {
	sum := sha256.New()
	for _, part := range []string{bearer(r), r.Header.Get("Accept"), w.Header().Get("X-GitHub-SSO"), w.Header().Get("Link"), string(body)} {
		sum.Write([]byte(part + "\x00"))
	}
	tag := `W/"` + hex.EncodeToString(sum.Sum(nil)[:16]) + `"`
	w.Header().Set("ETag", tag)
	if r.Header.Get("If-None-Match") != tag {
		return http.StatusOK, body
	}
	w.Header().Del("Link")
	w.Header().Del("Content-Type")
	if resource != "" {
		g.window(resource).used--
	}
	return http.StatusNotModified, nil
}

func (g *GitHub) scopes() []string { return g.Tokens.Current().Scopes }
