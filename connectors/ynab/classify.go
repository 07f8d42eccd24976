package ynab

import (
	"net/http"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

const (
	// window is the hour that YNAB counts in: any hour, and not that of the clock.
	window = time.Hour
	// allowed is how many of YNAB's 200 requests in that hour a run takes. The rest is left to
	// other programs with the same token.
	allowed = 180
)

// words are what the owner is told, by the id of the refusal, where another token would not help or helps alone.
var words = map[string]string{
	"403.1": "Your YNAB subscription has ended. Renew it at app.ynab.com, then run again.",
	"403.2": "Your YNAB trial has ended. Subscribe at app.ynab.com, then run again.",
	"403.3": "This token may not read your budgets. Make a new one at app.ynab.com/settings/developer and connect again.",
	"403.4": "YNAB says that your account has reached the limit of its data. Ask YNAB's support.",
}

// judge says what answers mean. YNAB does not tell how many requests are left, so that it counts them.
type judge struct {
	now   func() time.Time
	mu    sync.Mutex
	began time.Time // when the first request of the run was answered
	count int
}

func (j *judge) classify(r *governhttp.Response) error {
	left, reset := j.spend()
	if !r.Quota.Known {
		r.Quota = governor.Quota{Known: true, Limit: allowed, Remaining: left, Reset: reset}
	}
	switch r.Status {
	case http.StatusOK:
		return connectorkit.WholeJSON(r)
	case http.StatusTooManyRequests:
		if !r.HasRetryAfter { // it names no time: the hour of the first request ends then
			r.RetryAfter, r.HasRetryAfter = reset, true
		}
		return &connectorkit.Error{Class: connectorkit.RateLimited, Status: r.Status, RetryAfter: r.RetryAfter, HasRetryAfter: true}
	case http.StatusForbidden:
		return &connectorkit.Error{Class: connectorkit.Forbidden, Status: r.Status, OwnerMessage: words[refusal(r.Body)]}
	}
	return connectorkit.ByStatus(r)
}

// spend counts a request and tells how many are left in how long a time.
func (j *judge) spend() (left int, reset time.Duration) {
	j.mu.Lock()
	defer j.mu.Unlock()
	now := j.now()
	if j.count == 0 || now.Sub(j.began) >= window {
		j.began, j.count = now, 0
	}
	j.count++
	return max(allowed-j.count, 0), window - now.Sub(j.began)
}

// refusal is the id of an error, such as 403.1.
func refusal(body []byte) string {
	var wire struct {
		Error struct {
			ID string `json:"id"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &wire) != nil {
		return ""
	}
	return wire.Error.ID
}
