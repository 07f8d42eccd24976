package realserver

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"

	"github.com/pdpp-go/pdpp/providersim"
)

// StartFront starts a proxy before an HTTP server and passes every request through the gate. Its faults
// it answers with. Requests are counted by those of the patterns that they match, as in
// "PROPFIND /{user}/{calendar}/"; "/" counts the rest. The address is that of the front.
func StartFront(t testing.TB, gate *providersim.Gate, server string, patterns ...string) string {
	t.Helper()
	to, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host              // addresses in answers lead back here
		r.Out.Header.Del("Accept-Encoding") // faults change answers that can be read
	}}
	routes := http.NewServeMux()
	routes.Handle("/", proxy)
	for _, pattern := range patterns {
		routes.Handle(pattern, proxy)
	}
	front := httptest.NewServer(gate.Wrap(routes))
	t.Cleanup(front.Close)
	return front.URL
}
