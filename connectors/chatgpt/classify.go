package chatgpt

import (
	"bytes"
	"errors"
	"mime"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

var (
	errHTMLAnswer         = errors.New("the answer is a web page")
	errNotJSON            = errors.New("the answer is not JSON")
	errRedirectedToSignIn = errors.New("the answer redirects to the sign-in")
)

// classifyResponse handles what the site does in its own way and leaves the rest to the meaning of
// the status.
func classifyResponse(r *governhttp.Response) error {
	switch {
	case isRobotCheck(r):
		return classifiedError(connectorkit.Challenge, r, nil)
	case r.Status == http.StatusOK && isHTMLAnswer(r):
		return classifiedError(connectorkit.Malformed, r, errHTMLAnswer)
	case r.Status == http.StatusOK && !jsontext.Value(r.Body).IsValid(jsontext.AllowInvalidUTF8(true),
		jsontext.AllowDuplicateNames(true)):
		return classifiedError(connectorkit.Malformed, r, errNotJSON)
	case r.Status >= 300 && r.Status < 400:
		return classifiedError(connectorkit.Unauthorized, r, errRedirectedToSignIn)
	case r.Status == http.StatusNotFound && conversationIsGone(r.Body):
		return classifiedError(connectorkit.Gone, r, nil)
	}
	return connectorkit.ByStatus(r)
}

// isRobotCheck recognizes the check against robots in front of the site, which answers in the
// site's place with a page.
func isRobotCheck(r *governhttp.Response) bool {
	if r.Header.Get("Cf-Mitigated") != "" {
		return true
	}
	return isHTMLAnswer(r) && (r.Status == http.StatusForbidden || bytes.Contains(r.Body, []byte("_cf_chl_opt")))
}

func isHTMLAnswer(r *governhttp.Response) bool {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return kind == "text/html"
}

// conversationIsGone reports whether the body of a 404 means a deleted conversation, which is not an error.
func conversationIsGone(body []byte) bool {
	var reported struct {
		Detail jsontext.Value `json:"detail"`
	}
	var detail struct {
		Code string `json:"code"`
	}
	return decodeLenient(body, &reported) == nil && reported.Detail.Kind() == '{' &&
		decodeLenient(reported.Detail, &detail) == nil &&
		(detail.Code == "conversation_not_found" || detail.Code == "conversation_deleted")
}

func classifiedError(class connectorkit.Class, r *governhttp.Response, err error) error {
	return &connectorkit.Error{Class: class, Status: r.Status, RetryAfter: r.RetryAfter, HasRetryAfter: r.HasRetryAfter,
		Err: err}
}
