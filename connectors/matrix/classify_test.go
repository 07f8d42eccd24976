package matrix

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// The body of an answer holds its meaning, including the time to wait.
func TestClassify(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		body   string
		class  connectorkit.Class
		wait   time.Duration
		waits  bool
	}{
		{429, `{"errcode":"M_LIMIT_EXCEEDED","error":"slow","retry_after_ms":1500}`, connectorkit.RateLimited,
			1500 * time.Millisecond, true},
		{429, `{"errcode":"M_LIMIT_EXCEEDED","retry_after_ms":0.5}`, connectorkit.RateLimited, 500 * time.Microsecond, true},
		{429, `{"errcode":"M_LIMIT_EXCEEDED"}`, connectorkit.RateLimited, 0, false},
		{429, `{"errcode":"M_LIMIT_EXCEEDED","retry_after_ms":-1}`, connectorkit.RateLimited, 0, false},
		{429, `{"errcode":"M_LIMIT_EXCEEDED","retry_after_ms":1e300}`, connectorkit.RateLimited, 0, false},
		{429, `nothing`, connectorkit.RateLimited, 0, false},
		{401, `{"errcode":"M_UNKNOWN_TOKEN"}`, connectorkit.Unauthorized, 0, false},
		{403, `{"errcode":"M_USER_DEACTIVATED"}`, connectorkit.Unauthorized, 0, false},
		{403, `{"errcode":"M_FORBIDDEN"}`, connectorkit.Forbidden, 0, false},
		{400, `{"errcode":"M_INVALID_PARAM","error":"malformed sync token"}`, connectorkit.CursorRejected, 0, false},
		{404, `{"errcode":"M_NOT_FOUND"}`, connectorkit.NotFound, 0, false},
		{502, `<html>`, connectorkit.Unavailable, 0, false},
		{200, `{"next_batch":"s1`, connectorkit.Unavailable, 0, false},
		{200, `<html>`, connectorkit.Malformed, 0, false},
	} {
		r := &governhttp.Response{Status: c.status, Header: http.Header{}, Body: []byte(c.body)}
		var e *connectorkit.Error
		if !errors.As(classifyResponse(r), &e) || e.Class != c.class || c.waits != r.HasRetryAfter || c.wait != r.RetryAfter {
			t.Errorf("%d %s: %+v, wait %v %v", c.status, c.body, e, r.RetryAfter, r.HasRetryAfter)
		}
	}
}
