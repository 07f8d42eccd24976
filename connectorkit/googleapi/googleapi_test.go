package googleapi

import (
	"errors"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// Both forms of Google's errors are understood.
func TestClassify(t *testing.T) {
	t.Parallel()
	source := rest.Source{Errors: ErrorRules("Lamp API")}
	old := func(reason string) string { return `{"error":{"code":403,"errors":[{"reason":"` + reason + `"}]}}` }
	young := func(reason string) string { return `{"error":{"code":403,"details":[{"reason":"` + reason + `"}]}}` }
	for _, c := range []struct {
		status int
		body   string
		want   connectorkit.Class
		words  bool
	}{
		{200, `{"items":[]}`, "", false}, {200, `<html>`, connectorkit.Malformed, false},
		{200, `{"items":[`, connectorkit.Unavailable, false},
		{403, old("rateLimitExceeded"), connectorkit.RateLimited, false},
		{403, old("userRateLimitExceeded"), connectorkit.RateLimited, false},
		{403, old("quotaExceeded"), connectorkit.RateLimited, false},
		{403, young("RATE_LIMIT_EXCEEDED"), connectorkit.RateLimited, false},
		{429, young(""), connectorkit.RateLimited, false}, {403, old("forbidden"), connectorkit.Forbidden, false},
		{403, `no JSON`, connectorkit.Forbidden, false},
		{403, old("accessNotConfigured"), connectorkit.Forbidden, true},
		{403, young("SERVICE_DISABLED"), connectorkit.Forbidden, true},
		{403, old("insufficientPermissions"), connectorkit.Forbidden, true},
		{403, young("ACCESS_TOKEN_SCOPE_INSUFFICIENT"), connectorkit.Forbidden, true},
		{410, old("fullSyncRequired"), connectorkit.CursorRejected, false},
		{400, young("EXPIRED_SYNC_TOKEN"), connectorkit.CursorRejected, false},
		{400, old("invalid"), connectorkit.Malformed, false}, {401, old("authError"), connectorkit.Unauthorized, false},
		{404, old("notFound"), connectorkit.NotFound, false},
		{500, old("backendError"), connectorkit.Unavailable, false},
	} {
		var e *connectorkit.Error
		var got connectorkit.Class
		if errors.As(source.Classify(&governhttp.Response{Status: c.status, Body: []byte(c.body)}), &e) {
			got = e.Class
		}
		if got != c.want || c.words != (e != nil && e.OwnerMessage != "") {
			t.Errorf("%d %s is %q, want %q", c.status, c.body, got, c.want)
		}
	}
}
