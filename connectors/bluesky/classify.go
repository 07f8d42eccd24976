package bluesky

import (
	"errors"
	"mime"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

var (
	errUnexpectedShape = errors.New("the answer is not what the protocol describes")
	errTruncated       = errors.New("the answer ends early")
	errExpired         = errors.New("the session has expired")
)

// classifyResponse returns the error that an answer means. The error name in the body decides, because the status
// does not distinguish an expired session from a bad request.
func classifyResponse(r *governhttp.Response) error {
	if r.Status == http.StatusOK {
		return checkReadable(r)
	}
	var refusal struct {
		Error string `json:"error"`
	}
	_ = json.Unmarshal(r.Body, &refusal) // without a name the status decides
	e := &connectorkit.Error{Status: r.Status, RetryAfter: r.RetryAfter, HasRetryAfter: r.HasRetryAfter}
	switch refusal.Error {
	case "ExpiredToken":
		e.Class, e.Err = connectorkit.Unauthorized, errExpired
	case "AuthFactorTokenRequired":
		e.Class, e.OwnerMessage = connectorkit.Unauthorized,
			"Bluesky asks for a code with this password; make an app password and connect again"
	case "AccountTakedown", "RepoTakendown":
		e.Class, e.OwnerMessage = connectorkit.Forbidden, "the server has suspended this account and returns none of its data"
	case "AccountDeactivated", "RepoDeactivated":
		e.Class, e.OwnerMessage = connectorkit.Forbidden, "this account is deactivated; activate it again, then run again"
	case "RecordNotFound":
		e.Class = connectorkit.NotFound
	default:
		// The quota headers of a refusal name the time of the next request.
		if r.Status == http.StatusTooManyRequests && !r.HasRetryAfter && r.Quota.Known && r.Quota.Reset > 0 {
			r.RetryAfter, r.HasRetryAfter = r.Quota.Reset, true
		}
		return connectorkit.ByStatus(r)
	}
	return e
}

// checkReadable returns an error for an answer that has a good status but no usable body.
func checkReadable(r *governhttp.Response) error {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case kind != "application/json", len(r.Body) == 0:
		return connectorkit.Fail(connectorkit.Malformed, errUnexpectedShape)
	case !jsontext.Value(r.Body).IsValid():
		return connectorkit.Fail(connectorkit.Unavailable, errTruncated)
	}
	return nil
}
