package auth

import (
	"net/http"
	"strings"
)

// byTLS reports whether the browser reaches this server by TLS.
func (d *Auth) byTLS(r *http.Request) bool {
	return strings.HasPrefix(d.origin, "https:") || r.TLS != nil
}

// cookieName returns a cookie's full name. Browsers accept the prefix only by TLS and for this exact host, so that
// neither a sibling domain nor a network attacker can plant the cookie.
func (d *Auth) cookieName(r *http.Request, name string) string {
	if d.byTLS(r) {
		return "__Host-" + name
	}
	return name
}

// cookieOf returns a cookie's value, or "" if it cannot be ours.
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
