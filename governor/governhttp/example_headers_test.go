package governhttp_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// Retry-After has two forms. A date is measured from the response's own Date header, so wrong clocks do no harm.
func ExampleReadRetryAfter() {
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	show := func(h http.Header) { fmt.Println(governhttp.ReadRetryAfter(h, now)) }
	show(http.Header{"Retry-After": {"120"}})
	show(http.Header{"Retry-After": {"Mon, 02 Mar 2026 09:00:30 GMT"}, "Date": {"Mon, 02 Mar 2026 09:00:00 GMT"}})
	show(http.Header{"Retry-After": {"soon"}})
	// Output:
	// 2m0s true
	// 30s true
	// 0s false
}

// Providers announce quotas in several header formats.
func ExampleReadQuota() {
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	for _, h := range []http.Header{
		{"X-Ratelimit-Limit": {"5000"}, "X-Ratelimit-Remaining": {"12"}, "X-Ratelimit-Reset": {"1772453400"}},
		{"Ratelimit": {`"hourly";r=0;t=90`}, "Ratelimit-Policy": {`"hourly";q=100;w=3600`}},
	} {
		quota := governhttp.ReadQuota(h, now)
		fmt.Println(quota.Remaining, "of", quota.Limit, "left, full in", quota.Reset)
	}
	// Output:
	// 12 of 5000 left, full in 10m0s
	// 0 of 100 left, full in 1m30s
}

// Status and headers classify a response. A 403 counts as a refusal only if its headers show a limit.
func ExampleMeaning() {
	names := map[governor.Kind]string{
		governor.Success: "success", governor.Throttled: "throttled", governor.Failed: "failed",
		governor.Rejected: "rejected",
	}
	for _, r := range []governhttp.Response{
		{Status: 200}, {Status: 429}, {Status: 403}, {Status: 403, HasRetryAfter: true}, {Status: 502},
	} {
		fmt.Println(r.Status, names[governhttp.Meaning(&r)])
	}
	// Output:
	// 200 success
	// 429 throttled
	// 403 rejected
	// 403 throttled
	// 502 failed
}

// A request that cannot be finished now returns a Stopped error. It contains the wait that the provider asked for.
func ExampleStopped() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	defer server.Close()
	client, err := governhttp.New(governhttp.Options{
		BaseURL: server.URL,
		Sender: governhttp.NewSender(governor.New("acme", func(c *governor.Config) {
			c.Discovery = 0 // an example need not wait
		}), governhttp.SenderOptions{}),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = client.Get(context.Background(), "/items", nil)
	var stopped *governhttp.Stopped
	if errors.As(err, &stopped) {
		fmt.Println(stopped, stopped.Attempts, stopped.RetryAfter, stopped.ByProvider)
	}
	// Output: acme_rate_limited 1 1h0m0s true
}
