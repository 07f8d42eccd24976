package example

import (
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// TestClassify holds the meaning of each answer that Lumen's fact sheet lists.
func TestClassify(t *testing.T) {
	t.Parallel()
	const asJSON = "application/json"
	for _, c := range []struct {
		status     int
		kind, body string
		want       connectorkit.Class
	}{
		{200, asJSON, `{}`, ""},
		{200, "text/plain; charset=utf-8", `{}`, ""},
		{200, "text/html; charset=utf-8", `<form>`, connectorkit.Malformed},
		{400, asJSON, `{"error":{"code":"invalid_cursor"}}`, connectorkit.CursorRejected},
		{400, asJSON, `{"error":{"code":"invalid_limit"}}`, connectorkit.Malformed},
		{401, asJSON, `{"error":{"code":"token_expired"}}`, connectorkit.Unauthorized},
		{403, asJSON, `{"error":{"code":"insufficient_scope"}}`, connectorkit.Forbidden},
		{404, asJSON, `{"error":{"code":"not_found"}}`, connectorkit.NotFound},
		{410, asJSON, `{"error":{"code":"gone"}}`, connectorkit.Gone},
		{429, asJSON, `{"error":{"code":"rate_limited"}}`, connectorkit.RateLimited},
		{429, "text/html", `<h1>busy</h1>`, connectorkit.RateLimited},
		{500, asJSON, `{"error":{"code":"internal"}}`, connectorkit.Unavailable},
		{503, "", ``, connectorkit.Unavailable},
	} {
		err := classify(&governhttp.Response{
			Status: c.status, Header: http.Header{"Content-Type": {c.kind}}, Body: []byte(c.body), RetryAfter: time.Minute,
		})
		var e *connectorkit.Error
		switch {
		case c.want == "" && err != nil, c.want != "" && (!errors.As(err, &e) || e.Class != c.want):
			t.Errorf("%d %s %s: %v, want %s", c.status, c.kind, c.body, err, c.want)
		case c.want == connectorkit.RateLimited && e.RetryAfter != time.Minute:
			t.Errorf("%d: the wait that Lumen asked for is lost", c.status)
		}
	}
}

// TestIdOf names even what cannot be decoded otherwise.
func TestIdOf(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`{"id":"a","title":3}`: "a", `{"id":7}`: "", `{"title":"x"}`: "", `[]`: "", `null`: "",
	} {
		if got := idOf(jsontext.Value(raw)); got != want {
			t.Errorf("%s: %q, want %q", raw, got, want)
		}
	}
}

// TestThreadItem gives a thread its place in the list, or none.
func TestThreadItem(t *testing.T) {
	t.Parallel()
	item := threadItem(jsontext.Value(`{"id":"t","title":"x","updated_at":"2024-03-01T09:00:00.000000001+02:00","message_count":2}`))
	if item.Key != "t" || !item.Time.Equal(time.Date(2024, 3, 1, 7, 0, 0, 1, time.UTC)) {
		t.Errorf("item %+v", item)
	}
	for _, raw := range []string{`{"id":"t"}`, `{"updated_at":"2024-03-01T09:00:00Z"}`, `{"id":"t","updated_at":5}`, `7`} {
		if item := threadItem(jsontext.Value(raw)); item.Key != "" {
			t.Errorf("%s has the place %s %s", raw, item.Key, item.Time)
		}
	}
}

func TestBoundKeepsNanoseconds(t *testing.T) {
	t.Parallel()
	at := time.Date(2024, 3, 1, 9, 0, 0, 1, time.FixedZone("", 3600))
	if got := bound(at); got != "2024-03-01T08:00:00.000000001Z" || bound(time.Time{}) != "" {
		t.Errorf("bound %s", got)
	}
	q := query("a", "1", "b", "")
	if q.Encode() != "a=1&limit="+pageSize || !slices.Equal(q["a"], []string{"1"}) {
		t.Errorf("query %s", q.Encode())
	}
}
