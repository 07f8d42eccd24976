package server

import (
	"net/http"
	"net/url"

	"github.com/pdpp-go/pdpp/internal/web/reply"
)

// withoutCookies are the addresses that programs post to, from wherever they are.
// They know nobody by a cookie, so that there is nothing to forge.
var withoutCookies = []string{
	"POST /oauth/token", "POST /oauth/par", "POST /oauth/register", "POST /oauth/revoke", "POST /oauth/introspect", "POST /introspect",
}

// withSameOrigin refuses whatever another site makes a browser send. It stands
// around every surface, so that none can forget it. Programs that are no browser
// send neither Origin nor Sec-Fetch-Site and are not concerned.
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
		reply.Error(w, r, http.StatusForbidden, reply.TypePermission, "cross_origin_request", "Another site made your browser send this; it was not done.")
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
