package auth

import (
	"net/http"
	"strings"
)

// byTLS says whether the browser of a request reaches this server by TLS.
func (d *Auth) byTLS(r *http.Request) bool {
	return strings.HasPrefix(d.origin, "https:") || r.TLS != nil
}

// cookieName is a cookie's full name. Browsers take one with the prefix only by TLS and
// for this very host, so that neither a neighbour under the same domain nor somebody
// on the way can plant it.
func (d *Auth) cookieName(r *http.Request, name string) string {
	if d.byTLS(r) {
		return "__Host-" + name
	}
	return name
}

// cookieOf gives a cookie's value, or nothing when it cannot be one of ours.
func (d *Auth) cookieOf(r *http.Request, name string) string {
	cookie, err := r.Cookie(d.cookieName(r, name))
	if err != nil || len(cookie.Value) > 64 {
		return ""
	}
	return cookie.Value
}

func (d *Auth) cookie(r *http.Request, name, value string, maxAge int) *http.Cookie {
	return &http.Cookie{
		Name: d.cookieName(r, name), Value: value, Path: "/", MaxAge: maxAge,
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: d.byTLS(r),
	}
}
