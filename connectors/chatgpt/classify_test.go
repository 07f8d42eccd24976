package chatgpt

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// TestClassify checks the class of every answer and whether the request is sent again.
func TestClassify(t *testing.T) {
	t.Parallel()
	const (
		jsonType = "application/json"
		htmlType = "text/html; charset=UTF-8"
		wall     = `<!DOCTYPE html><title>Just a moment...</title><script>window._cf_chl_opt={}</script>`
	)
	for name, c := range map[string]struct {
		status int
		kind   string
		body   string
		header [2]string
		class  connectorkit.Class
		again  governor.Kind
	}{
		"good":                    {200, jsonType, `{"items":[]}`, [2]string{}, "", 0},
		"good under another type": {200, "text/plain", `{"items":[]}`, [2]string{}, "", 0},
		"bare limit": {429, jsonType, `{"detail":"You're making requests too quickly."}`, [2]string{},
			connectorkit.RateLimited, governor.Throttled},
		"limit with a wait": {429, jsonType, `{}`, [2]string{"Retry-After", "30"}, connectorkit.RateLimited,
			governor.Throttled},
		"timeout": {408, jsonType, `{}`, [2]string{}, connectorkit.Unavailable, governor.Failed},
		"deep offset": {500, jsonType, `{"detail":"Internal server error"}`, [2]string{},
			connectorkit.Unavailable, governor.Failed},
		"overload": {503, jsonType, `{}`, [2]string{}, connectorkit.Unavailable, governor.Throttled},
		"token ran out": {401, jsonType,
			`{"detail":{"message":"Your authentication token has expired.","code":"token_expired"}}`, [2]string{},
			connectorkit.Unauthorized, governor.Rejected},
		"token never was": {401, jsonType, `{"error":{"code":"invalid_jwt"}}`, [2]string{}, connectorkit.Unauthorized,
			governor.Rejected},
		"wall": {403, htmlType, wall, [2]string{}, connectorkit.Challenge, governor.Rejected},
		"wall by its header": {403, jsonType, `{}`, [2]string{"Cf-Mitigated", "challenge"}, connectorkit.Challenge,
			governor.Rejected},
		"wall as overload": {503, htmlType, wall, [2]string{}, connectorkit.Challenge, governor.Rejected},
		"refused page": {403, htmlType, `<h1>Access denied</h1>`, [2]string{}, connectorkit.Challenge,
			governor.Rejected},
		"refused":        {403, jsonType, `{"detail":"no access"}`, [2]string{}, connectorkit.Forbidden, governor.Rejected},
		"to the sign-in": {302, "", ``, [2]string{}, connectorkit.Unauthorized, governor.Rejected},
		"not found": {404, jsonType, `{"detail":{"message":"Conversation not found","code":"conversation_not_found"}}`,
			[2]string{}, connectorkit.Gone, governor.Rejected},
		"deleted": {404, jsonType, `{"detail":{"code":"conversation_deleted"}}`, [2]string{}, connectorkit.Gone,
			governor.Rejected},
		"no such path":   {404, jsonType, `{"detail":"Not Found"}`, [2]string{}, connectorkit.NotFound, governor.Rejected},
		"page too large": {422, jsonType, `{"detail":[]}`, [2]string{}, connectorkit.Malformed, governor.Rejected},
		"sign-in page":   {200, htmlType, `<form>`, [2]string{}, connectorkit.Malformed, governor.Rejected},
		"cut short":      {200, jsonType, `{"items":[`, [2]string{}, connectorkit.Malformed, governor.Rejected},
		"nothing":        {200, jsonType, ``, [2]string{}, connectorkit.Malformed, governor.Rejected},
	} {
		r := &governhttp.Response{Status: c.status, Body: []byte(c.body), Header: http.Header{"Content-Type": {c.kind}}}
		if c.header[0] != "" {
			r.Header.Set(c.header[0], c.header[1])
			r.RetryAfter, r.HasRetryAfter = 30*time.Second, c.header[0] == "Retry-After"
		}
		err := classifyResponse(r)
		var e *connectorkit.Error
		if !errors.As(err, &e) {
			if c.class != "" || err != nil {
				t.Errorf("%s: %v, want %s", name, err, c.class)
			}
			continue
		}
		if e.Class != c.class || e.Kind() != c.again || e.Status != c.status {
			t.Errorf("%s: %s %v with status %d, want %s %v", name, e.Class, e.Kind(), e.Status, c.class, c.again)
		}
	}
}

// TestSessionCall takes emptiness for what it is, whatever the status.
func TestSessionCall(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]connectorkit.Class{
		`{"user":{"id":"u"},"accessToken":"t"}`: "", `{}`: connectorkit.Unauthorized,
		`{"user":{"id":"u"}}`: connectorkit.Unauthorized,
		`{"accessToken":"t"}`: connectorkit.Unauthorized, `[]`: connectorkit.Malformed, `"x"`: connectorkit.Malformed,
	} {
		_, err := readSession([]byte(body))
		var e *connectorkit.Error
		if errors.As(err, &e); (err == nil) != (want == "") || err != nil && e.Class != want {
			t.Errorf("%s: %v, want %s", body, err, want)
		}
	}
}
