package realserver

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
)

// Counter counts what a server answers.
type Counter struct {
	Served, Refused atomic.Int64
	// Each is told of every request that is served, by its number.
	Each func(n int64)
}

// Count stands before a server and counts its refusals for too many requests, and the rest. The
// address is where it stands.
func Count(t testing.TB, server string) (*Counter, string) {
	t.Helper()
	to, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	c := &Counter{}
	front := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) },
		ModifyResponse: func(r *http.Response) error {
			if r.StatusCode == http.StatusTooManyRequests {
				c.Refused.Add(1)
			} else if n := c.Served.Add(1); c.Each != nil {
				c.Each(n)
			}
			return nil
		},
	})
	t.Cleanup(front.Close)
	return c, front.URL
}
