package strava

import (
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// What the owner is told.
const (
	wordsScope = "Strava did not give the permission to read your activities. Sign in at Strava again and leave it ticked."
	wordsOwner = "Strava lets this app read its owner's account alone. Sign in with the account that made the app, and see that its subscription runs."
)

// classify handles what Strava does in its own way and leaves the rest to the meaning of the status.
func classify(r *governhttp.Response) error {
	switch r.Status {
	case http.StatusOK:
		return connectorkit.WholeJSON(r)
	case http.StatusTooManyRequests:
		return limited(r)
	case http.StatusUnauthorized:
		e := &connectorkit.Error{Class: connectorkit.Unauthorized, Status: r.Status}
		if missing(r.Body) {
			e.OwnerMessage = wordsScope
		}
		return e
	case http.StatusForbidden:
		return &connectorkit.Error{Class: connectorkit.Forbidden, Status: r.Status, OwnerMessage: wordsOwner}
	}
	return connectorkit.ByStatus(r)
}

// window is the shorter of the windows that Strava counts in; both begin by the clock.
const window = 15 * time.Minute

// limited reads a refusal, which names no time: its headers tell which window is spent, and without them
// it is taken for the shorter one, by Strava's clock.
func limited(r *governhttp.Response) error {
	e := &connectorkit.Error{Class: connectorkit.RateLimited, Status: r.Status, RetryAfter: r.RetryAfter, HasRetryAfter: r.HasRetryAfter}
	if e.HasRetryAfter {
		return e
	}
	now, err := http.ParseTime(r.Header.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	e.RetryAfter, e.HasRetryAfter = now.Truncate(window).Add(window).Sub(now), true
	if r.Quota.Known && r.Quota.Remaining == 0 && r.Quota.Reset > e.RetryAfter {
		e.RetryAfter = r.Quota.Reset
	}
	r.RetryAfter, r.HasRetryAfter = e.RetryAfter, true
	return e
}

// missing reports whether a refusal is about a permission and not about the token.
func missing(body []byte) bool {
	var refusal struct {
		Errors []struct {
			Field string `json:"field"`
			Code  string `json:"code"`
		} `json:"errors"`
	}
	if json.Unmarshal(body, &refusal) != nil {
		return false
	}
	for _, e := range refusal.Errors {
		if e.Code == "missing" && strings.HasSuffix(e.Field, "_permission") {
			return true
		}
	}
	return false
}
