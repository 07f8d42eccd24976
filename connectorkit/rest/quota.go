package rest

import (
	"net/http"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// RequestQuota is a documented number of requests in a window that begins with the first request. The engine counts the
// requests of a run, because the provider does not report how many are left.
type RequestQuota struct {
	Requests int
	Window   time.Duration
}

// requestCounter counts the requests of a run.
type requestCounter struct {
	RequestQuota
	now   func() time.Time
	mu    sync.Mutex
	began time.Time // when the first request of the window was answered
	count int
}

// inspect sets the quota of a response that names none, and the wait of a limit that names no time: until the window
// ends.
func (c *requestCounter) inspect(r *governhttp.Response) {
	left, reset := c.countRequest()
	if !r.Quota.Known {
		r.Quota = governor.Quota{Known: true, Limit: c.Requests, Remaining: left, Reset: reset}
	}
	if r.Status == http.StatusTooManyRequests && !r.HasRetryAfter {
		r.RetryAfter, r.HasRetryAfter = reset, true
	}
}

// countRequest counts a request and returns how many are left, and for how long.
func (c *requestCounter) countRequest() (left int, reset time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if c.count == 0 || now.Sub(c.began) >= c.Window {
		c.began, c.count = now, 0
	}
	c.count++
	return max(c.Requests-c.count, 0), c.Window - now.Sub(c.began)
}
