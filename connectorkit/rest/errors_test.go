package rest

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// A limit that names no time lasts for the rest of the window that its headers report as used up, by the provider's
// clock. Without headers it lasts for the rest of the declared window.
func TestLimitWithoutATime(t *testing.T) {
	t.Parallel()
	src := Source{LimitWindow: 15 * time.Minute}
	at := time.Date(2026, 5, 6, 13, 52, 30, 0, time.UTC)
	for name, c := range map[string]struct {
		header map[string]string
		want   time.Duration
	}{
		"no headers": {nil, 7*time.Minute + 30*time.Second},
		"quarter used up": {map[string]string{"X-Readratelimit-Limit": "100,1000", "X-Readratelimit-Usage": "101,340"},
			7*time.Minute + 30*time.Second},
		"day used up": {map[string]string{"X-Readratelimit-Limit": "100,1000", "X-Readratelimit-Usage": "12,1001"},
			10*time.Hour + 7*time.Minute + 30*time.Second},
		"all reads and writes used up": {map[string]string{"X-Ratelimit-Limit": "200,2000",
			"X-Ratelimit-Usage": "12,2000", "X-Readratelimit-Limit": "100,1000", "X-Readratelimit-Usage": "12,340"},
			10*time.Hour + 7*time.Minute + 30*time.Second},
		"a time": {map[string]string{"Retry-After": "5"}, 5 * time.Second},
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
		if err := src.Classify(r); !errors.As(err, &e) || e.Class != connectorkit.RateLimited || !e.HasRetryAfter ||
			e.RetryAfter != c.want || r.RetryAfter != c.want {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

// Rules apply by status, text and member, the first one wins, and the status decides about the rest.
func TestErrorRules(t *testing.T) {
	t.Parallel()
	src := Source{Errors: []ErrorRule{
		{Status: 403, Member: "error.errors.*.reason", Values: []string{"quota"}, Class: connectorkit.RateLimited},
		{Status: 403, Contains: []string{"not registered"}, Class: connectorkit.Forbidden, Message: "Register."},
		{Member: "error.code", Values: []string{"invalid_cursor"}, Class: connectorkit.CursorRejected},
		{Status: AnyStatus, Member: "errors.*.type", Values: []string{"ratelimited"}, Class: connectorkit.RateLimited},
		{Status: 200, Member: "errors.*.message", Class: connectorkit.Malformed},
		{Status: 401, Contains: []string{`"missing"`, `_permission"`}, Class: connectorkit.Unauthorized, Message: "Tick."},
	}}
	for _, c := range []struct {
		status  int
		body    string
		class   connectorkit.Class
		message string
	}{
		{status: 200, body: `{"error":{"code":"invalid_cursor"}}`},
		{status: 200, body: `{"data":{},"errors":[{"type":"ratelimited"}]}`, class: connectorkit.RateLimited},
		{status: 400, body: `{"errors":[{"type":"x"},{"type":"ratelimited"}]}`, class: connectorkit.RateLimited},
		{status: 200, body: `{"data":{},"errors":[{"message":"No."}]}`, class: connectorkit.Malformed},
		{status: 200, body: `{"data":{"errors":[{"message":"No."}]},"errors":[]}`},
		{status: 200, body: `<html>`, class: connectorkit.Malformed},
		{status: 200, body: `{"a":[`, class: connectorkit.Unavailable},
		{status: 403, body: `{"error":{"errors":[{"reason":"x"},{"reason":"quota"}]}}`, class: connectorkit.RateLimited},
		{status: 403, body: `{"error":{"errors":{"reason":"quota"}}}`, class: connectorkit.Forbidden},
		{status: 403, body: `User Not Registered`, class: connectorkit.Forbidden, message: "Register."},
		{status: 400, body: `{"error":{"code":"invalid_cursor"}}`, class: connectorkit.CursorRejected},
		{status: 400, body: `{"error":{"code":"invalid`, class: connectorkit.Malformed},
		{status: 401, body: `{"code":"missing","field":"read_permission"}`, class: connectorkit.Unauthorized,
			message: "Tick."},
		{status: 401, body: `{}`, class: connectorkit.Unauthorized},
		{status: 503, body: `{}`, class: connectorkit.Unavailable},
	} {
		var e *connectorkit.Error
		err := src.Classify(&governhttp.Response{Status: c.status, Header: http.Header{}, Body: []byte(c.body)})
		if !errors.As(err, &e) {
			e = &connectorkit.Error{}
		}
		if e.Class != c.class || e.OwnerMessage != c.message {
			t.Errorf("%d %s: %q %q", c.status, c.body, e.Class, e.OwnerMessage)
		}
	}
	// A refusal that asks to wait is a limit, whatever a rule would make of it.
	var e *connectorkit.Error
	if err := src.Classify(&governhttp.Response{Status: 403, Body: []byte("not registered"), RetryAfter: time.Second,
		HasRetryAfter: true}); !errors.As(err, &e) || e.Class != connectorkit.RateLimited {
		t.Errorf("a wait is %v", err)
	}
}
