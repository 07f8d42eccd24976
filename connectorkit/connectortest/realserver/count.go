package realserver

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
)

// AnswerCounter counts what a server answers.
type AnswerCounter struct {
	Served, Refused atomic.Int64
	// Each is called for every request that is served, with its number.
	Each func(n int64)
}

// CountAnswers starts a proxy before a server that counts refusals for too many requests, and other answers. The
// address is that of the proxy.
func CountAnswers(t testing.TB, server string) (*AnswerCounter, string) {
	t.Helper()
	to, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	c := &AnswerCounter{}
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
