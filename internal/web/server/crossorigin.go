package server

import (
	"net/http"
	"net/url"

	"github.com/pdpp-go/pdpp/internal/web/reply"
)

// withoutCookies are the addresses that programs post to from any site. They ignore cookies, so there is nothing to
// forge.
var withoutCookies = []string{
	"POST /oauth/token", "POST /oauth/par", "POST /oauth/register", "POST /oauth/revoke", "POST /oauth/introspect",
	"POST /introspect", "POST /mcp",
}

// forAnyOrigin are the addresses that programs in a browser read from any site. They ignore cookies.
var forAnyOrigin = map[string]bool{
	"/.well-known/oauth-authorization-server": true, "/.well-known/oauth-protected-resource": true,
	"/.well-known/oauth-protected-resource/mcp": true, "/oauth/token": true, "/oauth/register": true, "/mcp": true,
}

// withSharing lets pages of any site read the addresses forAnyOrigin. It answers the questions that browsers ask first.
func withSharing(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !forAnyOrigin[r.URL.Path] {
			next.ServeHTTP(w, r)
			return
		}
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", "*")
		h.Set("Access-Control-Expose-Headers", "WWW-Authenticate, Retry-After")
		h.Set("Cross-Origin-Resource-Policy", "cross-origin")
		if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
			next.ServeHTTP(w, r)
			return
		}
		h.Set("Access-Control-Allow-Methods", "GET, POST")
		h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Method, "+
			"Mcp-Name, Mcp-Session-Id, Last-Event-ID")
		h.Set("Access-Control-Max-Age", "3600")
		w.WriteHeader(http.StatusNoContent)
	})
}

// withSameOrigin rejects requests that another site makes a browser send. It wraps every route. Programs other than
// browsers send neither Origin nor Sec-Fetch-Site and are not affected.
func withSameOrigin(public string, next http.Handler) http.Handler {
	guard := http.NewCrossOriginProtection()
	for _, pattern := range withoutCookies {
		guard.AddInsecureBypassPattern(pattern)
	}
	if public != "" {
		// A proxy in between may have put its own name into Host. The origin was checked.
		_ = guard.AddTrustedOrigin(public)
	}
	guard.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reply.Error(w, r, http.StatusForbidden, reply.TypePermission, "cross_origin_request",
			"Another site made your browser send this; it was not done.")
	}))
	return guard.Handler(next)
}

// publicOrigin is the origin of the public address; empty when there is none.
func (c Config) publicOrigin() string {
	u, err := url.Parse(c.Public)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}
