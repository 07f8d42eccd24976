package github

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// TestClassify holds the meaning of each answer that the fact sheet lists.
func TestClassify(t *testing.T) {
	t.Parallel()
	const (
		primary = `{"message":"API rate limit exceeded for user ID 5. If you reach out...","documentation_url":"https:/` +
			`/docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api"}`
		secondary = `{"documentation_url":"https://docs.github.com/rest/using-the-rest-api/` +
			`rate-limits-for-the-rest-api#about-secondary-rate-limits","message":"You have exceeded a secondary rate limit. ` +
			`Please wait a few minutes before you try again."}`
		abuse = `{"message":"You have triggered an abuse detection mechanism. Please wait a few minutes before you ` +
			`try again."}`
		noAccess = `{"message":"Resource not accessible by personal access token","documentation_url":"https://` +
			`docs.github.com/rest","status":"403"}`
		saml     = `{"message":"Resource protected by organization SAML enforcement."}`
		attempts = `{"message":"Maximum number of login attempts exceeded. Please try again later."}`
		bad      = `{"message":"Bad credentials","documentation_url":"https://docs.github.com/rest","status":"401"}`
	)
	type headers map[string]string
	spent := headers{"X-RateLimit-Remaining": "0", "X-RateLimit-Limit": "5000", "X-RateLimit-Reset": "1778068800",
		"Date": "Wed, 06 May 2026 11:50:00 GMT"}
	plenty := headers{"X-RateLimit-Remaining": "4000", "X-RateLimit-Limit": "5000", "X-RateLimit-Reset": "1778068800",
		"Date": "Wed, 06 May 2026 11:50:00 GMT"}
	with := func(h headers, name, value string) headers {
		out := headers{name: value}
		for k, v := range h {
			out[k] = v
		}
		return out
	}
	for _, c := range []struct {
		name   string
		status int
		header headers
		body   string
		want   connectorkit.Class
		wait   time.Duration
	}{
		{"good", 200, plenty, `[]`, "", 0},
		{"last of the allowance", 200, spent, `[]`, "", 0},
		{"unchanged", 304, nil, ``, "", 0},
		{"mislabelled", 200, headers{"Content-Type": "text/plain"}, `{}`, "", 0},
		{"web page", 200, headers{"Content-Type": "text/html; charset=utf-8"}, `<form>`, connectorkit.Malformed, 0},
		{"empty", 200, nil, ``, connectorkit.Malformed, 0},
		{"ends early", 200, nil, `[{"id":`, connectorkit.Unavailable, 0},
		{"search timed out", 200, headers{"X-RateLimit-Resource": "search"},
			`{"total_count":3,"incomplete_results":true,"items":[]}`, connectorkit.Unavailable, 0},
		{"search done", 200, headers{"X-RateLimit-Resource": "search"},
			`{"total_count":0,"incomplete_results":false,"items":[]}`, "", 0},

		{"bad token", 401, nil, bad, connectorkit.Unauthorized, 0},
		{"locked sign-in", 403, nil, attempts, connectorkit.RateLimited, lockoutPause},
		{"primary as 403", 403, spent, primary, connectorkit.RateLimited, 10 * time.Minute},
		{"primary as 429", 429, spent, primary, connectorkit.RateLimited, 10 * time.Minute},
		{"spent without words", 403, spent, `{}`, connectorkit.RateLimited, 10 * time.Minute},
		{"secondary as 403, told", 403, with(plenty, "Retry-After", "30"), secondary, connectorkit.RateLimited,
			30 * time.Second},
		{"secondary as 429, told", 429, with(plenty, "Retry-After", "30"), secondary, connectorkit.RateLimited,
			30 * time.Second},
		{"secondary as 403, silent", 403, plenty, secondary, connectorkit.RateLimited, time.Minute},
		{"secondary as 429, silent", 429, plenty, secondary, connectorkit.RateLimited, time.Minute},
		{"abuse detection", 403, plenty, abuse, connectorkit.RateLimited, time.Minute},
		{"retry told without words", 403, with(plenty, "Retry-After", "7"), ``, connectorkit.RateLimited, 7 * time.Second},
		{"429 without anything", 429, nil, ``, connectorkit.RateLimited, 0},

		{"no permission", 403, plenty, noAccess, connectorkit.Forbidden, 0},
		{"no permission with the last request", 403, spent, noAccess, connectorkit.Forbidden, 0},
		{"single sign-on", 403, with(plenty, "X-GitHub-SSO", "required; url=https://github.com/orgs/x/sso"), saml,
			connectorkit.Forbidden, 0},
		{"other refusal", 403, plenty, `{"message":"Repository access blocked"}`, connectorkit.Forbidden, 0},
		{"no user agent", 403, nil, "Request forbidden by administrative rules.", connectorkit.Malformed, 0},
		{"a proxy's page", 403, headers{"Content-Type": "text/html"}, `<h1>blocked</h1>`, connectorkit.Unavailable, 0},

		{"hidden or gone", 404, plenty, `{"message":"Not Found"}`, connectorkit.NotFound, 0},
		{"deleted", 410, plenty, `{"message":"This issue was deleted"}`, connectorkit.Gone, 0},
		{"legal block", 451, plenty, `{"message":"Repository access blocked"}`, connectorkit.Forbidden, 0},
		{"past the results", 422, plenty, `{"message":"Only the first 1000 search results are available"}`,
			connectorkit.Malformed, 0},
		{"server error", 500, nil, `{"message":"Server Error"}`, connectorkit.Unavailable, 0},
		{"bad gateway", 502, headers{"Content-Type": "text/html"}, `<html>`, connectorkit.Unavailable, 0},
		{"no server", 503, nil, ``, connectorkit.Unavailable, 0},
	} {
		h := http.Header{}
		for name, value := range c.header {
			h.Set(name, value)
		}
		r := &governhttp.Response{Status: c.status, Header: h, Body: []byte(c.body),
			Quota: governhttp.ReadQuota(h, time.Time{})}
		r.RetryAfter, r.HasRetryAfter = governhttp.ReadRetryAfter(h, time.Time{})
		err := new(responseClassifier).classifyResponse(r)
		var e *connectorkit.Error
		switch {
		case c.want == "" && err != nil, c.want != "" && (!errors.As(err, &e) || e.Class != c.want):
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		case e != nil && e.RetryAfter != c.wait, r.RetryAfter != c.wait:
			t.Errorf("%s: asks to wait %s (the governor: %s), want %s", c.name, e.RetryAfter, r.RetryAfter, c.wait)
		case c.want == connectorkit.RateLimited && e.Kind() != governor.Throttled:
			t.Errorf("%s: does not slow the pace", c.name)
		}
	}
}

// TestSilentRefusalsWaitLonger doubles the pause after each consecutive secondary refusal, and resets it after a good
// answer.
func TestSilentRefusalsWaitLonger(t *testing.T) {
	t.Parallel()
	j := new(responseClassifier)
	refuse := func() time.Duration {
		r := &governhttp.Response{Status: 403, Header: http.Header{},
			Body: []byte(`{"message":"You have exceeded a secondary rate limit."}`)}
		_ = j.classifyResponse(r)
		return r.RetryAfter
	}
	for _, want := range []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute} {
		if got := refuse(); got != want {
			t.Errorf("waits %s, want %s", got, want)
		}
	}
	_ = j.classifyResponse(&governhttp.Response{Status: 200, Header: http.Header{}, Body: []byte(`[]`)})
	if got := refuse(); got != time.Minute {
		t.Errorf("after an answer it waits %s", got)
	}
}
