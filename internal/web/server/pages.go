package server

import (
	"html/template"
	"net/http"
	"net/url"
	"strings"
)

// pagePolicy lets a page load and send only what this server has: no script and no
// style within the page, no frame around it, no form that leads elsewhere.
const pagePolicy = "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"

// PageHeaders is for everything that people look at. Around it a form may be
// answered with a redirect to another site, as a decision about an app's request is.
func PageHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", pagePolicy)
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		// With no-referrer a browser hides the origin of our own forms from us as well.
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
		if r.Method == http.MethodPost {
			w = &leavingWriter{ResponseWriter: w, request: r}
		}
		next.ServeHTTP(w, r)
	})
}

// leavingWriter turns a redirect to another site into a page that moves on by
// itself. Chromium holds form-action against every redirect that follows a form,
// those of the other site too, so that naming the site in the policy would not be
// enough; a page that has arrived may lead anywhere.
type leavingWriter struct {
	http.ResponseWriter
	request *http.Request
	left    bool
}

func (w *leavingWriter) WriteHeader(status int) {
	to := w.Header().Get("Location")
	if status != http.StatusSeeOther && status != http.StatusFound || !w.leavesSite(to) {
		w.ResponseWriter.WriteHeader(status)
		return
	}
	w.left = true
	h := w.Header()
	h.Del("Location")
	h.Del("Content-Length")
	h.Del("Content-Type")
	if w.request.Header.Get("HX-Request") == "true" {
		h.Set("HX-Redirect", to)
		w.ResponseWriter.WriteHeader(http.StatusNoContent)
		return
	}
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Refresh", "0; url="+to)
	w.ResponseWriter.WriteHeader(http.StatusOK)
	_ = leavingPage.Execute(w.ResponseWriter, struct {
		To   template.URL // leads refuses what would run here
		Name string
	}{template.URL(to), siteName(to)})
}

// Write drops the body of http.Redirect for browsers that do not follow.
func (w *leavingWriter) Write(b []byte) (int, error) {
	if w.left {
		return len(b), nil
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController through.
func (w *leavingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// leavesSite reports whether an address is of another site or another program. One
// that a browser would run, or open as a file, is left to the browser to refuse.
func (w *leavingWriter) leavesSite(to string) bool {
	u, err := url.Parse(to)
	if err != nil || u.Scheme == "" || strings.ContainsAny(to, "\r\n") {
		return false
	}
	switch strings.ToLower(u.Scheme) {
	case "javascript", "vbscript", "data", "blob", "file", "about", "filesystem", "view-source":
		return false
	case "http", "https":
		return u.Host != "" && u.Host != w.request.Host
	}
	return true
}

// siteName is what a person calls the address by.
func siteName(to string) string {
	if u, err := url.Parse(to); err == nil && u.Host != "" {
		return u.Host
	}
	return "the app"
}

var leavingPage = template.Must(template.New("leaving").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>On the way to {{.Name}} · pdpp</title></head>
<body><p><a href="{{.To}}">Continue to {{.Name}}</a></p></body></html>
`))
