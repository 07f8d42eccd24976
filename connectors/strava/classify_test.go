package strava

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// A refusal names no time: it is the rest of the window that its headers call spent, by Strava's clock, and
// without headers that of the quarter of an hour.
func TestRefusalsWithoutATime(t *testing.T) {
	at := time.Date(2026, 5, 6, 13, 52, 30, 0, time.UTC)
	for name, c := range map[string]struct {
		header map[string]string
		want   time.Duration
	}{
		"no word":         {nil, 7*time.Minute + 30*time.Second},
		"quarter spent":   {map[string]string{"X-Readratelimit-Limit": "100,1000", "X-Readratelimit-Usage": "101,340"}, 7*time.Minute + 30*time.Second},
		"day spent":       {map[string]string{"X-Readratelimit-Limit": "100,1000", "X-Readratelimit-Usage": "12,1001"}, 10*time.Hour + 7*time.Minute + 30*time.Second},
		"overall spent":   {map[string]string{"X-Ratelimit-Limit": "200,2000", "X-Ratelimit-Usage": "12,2000", "X-Readratelimit-Limit": "100,1000", "X-Readratelimit-Usage": "12,340"}, 10*time.Hour + 7*time.Minute + 30*time.Second},
		"somebody's word": {map[string]string{"Retry-After": "5"}, 5 * time.Second},
	} {
		h := http.Header{"Date": {at.Format(http.TimeFormat)}}
		for k, v := range c.header {
			h.Set(k, v)
		}
		r := &governhttp.Response{Status: http.StatusTooManyRequests, Header: h, Quota: governhttp.ReadQuota(h, at)}
		if h.Get("Retry-After") != "" {
			r.RetryAfter, r.HasRetryAfter = 5*time.Second, true
		}
		var e *connectorkit.Error
		if err := classify(r); !errors.As(err, &e) || e.Class != connectorkit.RateLimited || !e.HasRetryAfter || e.RetryAfter != c.want || r.RetryAfter != c.want {
			t.Errorf("%s: %+v", name, e)
		}
	}
}
