package inprocess

import (
	"net/http"
	"net/http/httptest"
)

// Visitor is a transport that calls a handler directly and stores cookies, as a browser does on loopback.
type Visitor struct {
	Handler http.Handler
	Cookies map[string]string
}

// Cookie returns a cookie as the site's scripts would read it.
func (v *Visitor) Cookie(name string) string { return v.Cookies[name] }

// RoundTrip calls the handler.
func (v *Visitor) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, value := range v.Cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	w := httptest.NewRecorder()
	v.Handler.ServeHTTP(w, r)
	resp := w.Result()
	for _, c := range resp.Cookies() {
		v.Cookies[c.Name] = c.Value
	}
	return resp, nil
}
