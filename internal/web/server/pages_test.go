package server

import (
	"net/http"
	"strings"
	"testing"
)

func TestPagesHaveTheirPolicy(t *testing.T) {
	page := PageHeaders(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_,
			_ = w.Write([]byte("a page"))
	}))
	url := start(t, Config{Mount: func(mux *http.ServeMux) { mux.Handle("/page", page) }})
	for _, method := range []string{"GET", "POST"} {
		h := ask(t, method, url+"/page").header
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; " +
				"object-src 'none'",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
			"X-Content-Type-Options": "nosniff",
			"X-Frame-Options":        "DENY", "Referrer-Policy": "same-origin", "Cache-Control": "no-store",
			"Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
		} {
			if h.Get(name) != want {
				t.Errorf("%s: %s is %q", method, name, h.Get(name))
			}
		}
	}
}

// A form may end at another site, which a redirect cannot under our own policy; a
// form that stays here is redirected as ever.
func TestFormMayLeadElsewhere(t *testing.T) {
	url := start(t, Config{Mount: func(mux *http.ServeMux) {
		mux.Handle("/go", PageHeaders(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusSeeOther)
		})))
	}})
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	decide := func(method, to string, htmx bool) answer {
		req, err := http.NewRequestWithContext(t.Context(), method, url+"/go", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.URL.RawQuery = "to=" + strings.NewReplacer("&", "%26", "+", "%2B", "\"", "%22", " ", "%20").Replace(to)
		if htmx {
			req.Header.Set("HX-Request", "true")
		}
		return send(t, client, req)
	}
	for to, site := range map[string]string{"https://app.example/back?code=a&state=b": "app.example",
		"http://127.0.0.1:1/back?code=a": "127.0.0.1:1", "com.example.app:/back?code=a": "the app"} {
		a := decide("POST", to, false)
		if a.status != 200 || a.header.Get("Refresh") != "0; url="+to || a.header.Get("Location") != "" ||
			a.header.Get("Content-Security-Policy") != pagePolicy {
			t.Errorf("%s: %d %v", to, a.status, a.header)
		}
		if !strings.Contains(a.body, `<a href="`+strings.ReplaceAll(to, "&", "&amp;")+`">Continue to `+site+`</a>`) {
			t.Errorf("%s: %s", to, a.body)
		}
		if a := decide("POST", to, true); a.status != 204 || a.header.Get("HX-Redirect") != to || a.body != "" {
			t.Errorf("%s by htmx: %d %v", to, a.status, a.header)
		}
		if a := decide("GET", to, false); a.status != 303 || a.header.Get("Location") != to {
			t.Errorf("%s by a link: %d", to, a.status)
		}
	}
	for _, to := range []string{"/sharing", url + "/sharing", "javascript:alert(1)", "data:text/html,x",
		"file:///etc/hosts"} {
		if a := decide("POST", to, false); a.status != 303 || a.header.Get("Refresh") != "" ||
			strings.Contains(a.body, "Continue to") {
			t.Errorf("%s: %d %v", to, a.status, a.header)
		}
	}
	if a := decide("POST", `https://app.example/"><script>alert(1)</script>`, false); strings.Contains(a.body,
		"<script>") {
		t.Errorf("the address is not escaped: %s", a.body)
	}
}
