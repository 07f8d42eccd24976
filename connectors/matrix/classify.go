package matrix

import (
	"errors"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

var errUnexpectedShape = errors.New("the answer does not come from a Matrix homeserver")

// classifyResponse returns the error that an answer means. The body of a refusal has an error name and the wait in
// milliseconds, often without a header.
func classifyResponse(r *governhttp.Response) error {
	if r.Status == http.StatusOK {
		return connectorkit.WholeJSON(r)
	}
	var refusal struct {
		Code    string   `json:"errcode"`
		RetryMS *float64 `json:"retry_after_ms"`
	}
	_ = json.Unmarshal(r.Body, &refusal) // without a name the status decides
	if refusal.Code == "M_LIMIT_EXCEEDED" && !r.HasRetryAfter && refusal.RetryMS != nil && *refusal.RetryMS >= 0 &&
		*refusal.RetryMS < 1e12 {
		r.RetryAfter, r.HasRetryAfter = time.Duration(*refusal.RetryMS*float64(time.Millisecond)), true
	}
	e := &connectorkit.Error{Status: r.Status, RetryAfter: r.RetryAfter, HasRetryAfter: r.HasRetryAfter}
	switch refusal.Code {
	case "M_LIMIT_EXCEEDED":
		e.Class = connectorkit.RateLimited
	case "M_UNKNOWN_TOKEN", "M_MISSING_TOKEN", "M_USER_DEACTIVATED":
		e.Class = connectorkit.Unauthorized
	case "M_INVALID_PARAM", "M_UNKNOWN_POS":
		e.Class = connectorkit.CursorRejected
	default:
		return connectorkit.ByStatus(r)
	}
	return e
}

// classifyFile is classify for an answer that is a file.
func classifyFile(r *governhttp.Response) error {
	if r.Stream != nil {
		return nil
	}
	if r.Status == http.StatusOK {
		return connectorkit.Fail(connectorkit.Malformed, errUnexpectedShape)
	}
	return classifyResponse(r)
}

// classOf returns the class of an error; empty when it has none.
func classOf(err error) connectorkit.Class {
	var e *connectorkit.Error
	if errors.As(err, &e) {
		return e.Class
	}
	return ""
}
