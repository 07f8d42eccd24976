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
	errForm      = errors.New("the answer is not what the protocol describes")
	errTruncated = errors.New("the answer ends early")
	errExpired   = errors.New("the session has run out")
)

// classify says what an answer means. An error has a name of its own in the body; the status alone
// does not tell a session that ran out from a bad request.
func classify(r *governhttp.Response) error {
	if r.Status == http.StatusOK {
		return readable(r)
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
		e.Class, e.OwnerMessage = connectorkit.Forbidden, "the server has taken this account down and gives nothing of it"
	case "AccountDeactivated", "RepoDeactivated":
		e.Class, e.OwnerMessage = connectorkit.Forbidden, "this account is deactivated; activate it again, then run again"
	case "RecordNotFound":
		e.Class = connectorkit.NotFound
	default:
		// A refusal says in the quota when the next request is welcome.
		if r.Status == http.StatusTooManyRequests && !r.HasRetryAfter && r.Quota.Known && r.Quota.Reset > 0 {
			r.RetryAfter, r.HasRetryAfter = r.Quota.Reset, true
		}
		return connectorkit.ByStatus(r)
	}
	return e
}

// readable tells a good answer from one that only has the status of one.
func readable(r *governhttp.Response) error {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case kind != "application/json", len(r.Body) == 0:
		return connectorkit.Fail(connectorkit.Malformed, errForm)
	case !jsontext.Value(r.Body).IsValid():
		return connectorkit.Fail(connectorkit.Unavailable, errTruncated)
	}
	return nil
}
