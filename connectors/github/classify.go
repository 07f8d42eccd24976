package github

import (
	"errors"
	"mime"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

var (
	errHTMLAnswer  = errors.New("the answer is a web page")
	errEmptyAnswer = errors.New("the answer is empty")
	errTruncated   = errors.New("the answer ends early")
	errTimedOut    = errors.New("the search timed out and returned only part of its results")
)

const (
	// secondaryPause is what GitHub asks for after a secondary refusal that names no time;
	// each one in a row doubles it.
	secondaryPause = time.Minute
	// lockoutPause is how long the connector pauses after too many refused tokens locked the sign-in. It is longer than
	// any run waits.
	lockoutPause = 15 * time.Minute
)

// responseClassifier classifies answers. It counts consecutive secondary refusals.
type responseClassifier struct{ refusals atomic.Int32 }

// errorBody is the body of an error.
type errorBody struct {
	Message string `json:"message"`
	Docs    string `json:"documentation_url"`
}

func (r errorBody) mentions(text string) bool {
	return strings.Contains(strings.ToLower(r.Message), text)
}

// classifyResponse handles what GitHub does in its own way and leaves the rest to the
// meaning of the status.
func (j *responseClassifier) classifyResponse(r *governhttp.Response) error {
	switch {
	case r.Status == http.StatusNotModified:
		j.refusals.Store(0)
		return nil
	case r.Status == http.StatusOK:
		j.refusals.Store(0)
		return checkReadable(r)
	case r.Status == http.StatusForbidden, r.Status == http.StatusTooManyRequests:
		return j.classifyRefusal(r)
	case r.Status == http.StatusUnavailableForLegalReasons:
		return classifiedError(connectorkit.Forbidden, r)
	}
	return connectorkit.ByStatus(r)
}

// checkReadable returns an error for an answer that has a good status but no usable body. Under load, bodies end
// early and searches stop half-way; both are worth a retry.
func checkReadable(r *governhttp.Response) error {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case kind == "text/html":
		return connectorkit.Fail(connectorkit.Malformed, errHTMLAnswer)
	case len(r.Body) == 0:
		return connectorkit.Fail(connectorkit.Malformed, errEmptyAnswer)
	case !jsontext.Value(r.Body).IsValid():
		return connectorkit.Fail(connectorkit.Unavailable, errTruncated)
	}
	if r.Header.Get("X-RateLimit-Resource") == "search" {
		var found struct {
			Partial bool `json:"incomplete_results"`
		}
		if json.Unmarshal(r.Body, &found) == nil && found.Partial {
			return connectorkit.Fail(connectorkit.Unavailable, errTimedOut)
		}
	}
	return nil
}

// classifyRefusal classifies a 403 or 429. The message decides before the numbers: a permanent refusal can come with
// the last request of a quota, and a secondary limit can come while the primary quota has plenty left.
func (j *responseClassifier) classifyRefusal(r *governhttp.Response) error {
	var body errorBody
	decoded := json.Unmarshal(r.Body, &body) == nil // without words, the headers decide
	sso, _, _ := strings.Cut(r.Header.Get("X-GitHub-SSO"), ";")
	spent := r.Quota.Known && r.Quota.Remaining == 0
	switch {
	case body.mentions("secondary rate limit"), body.mentions("abuse detection"),
		strings.Contains(body.Docs, "secondary-rate-limits"):
		return j.rateLimited(r, secondaryPause<<min(j.refusals.Add(1)-1, 10))
	case body.mentions("api rate limit exceeded"):
		return j.rateLimited(r, r.Quota.Reset)
	case body.mentions("login attempts exceeded"):
		return j.rateLimited(r, lockoutPause)
	case strings.TrimSpace(sso) == "required", body.mentions("not accessible by"):
		return classifiedError(connectorkit.Forbidden, r)
	case r.HasRetryAfter, spent, r.Status == http.StatusTooManyRequests:
		return j.rateLimited(r, r.Quota.Reset)
	case strings.Contains(string(r.Body), "administrative rules"):
		return classifiedError(connectorkit.Malformed, r) // our own headers are at fault
	case !decoded:
		return classifiedError(connectorkit.Unavailable, r) // a proxy in front of GitHub answered
	}
	return classifiedError(connectorkit.Forbidden, r)
}

// rateLimited returns a rate limit error that ends after the announced time, or after wait when none was announced.
func (j *responseClassifier) rateLimited(r *governhttp.Response, wait time.Duration) error {
	if !r.HasRetryAfter && wait > 0 {
		r.RetryAfter, r.HasRetryAfter = wait, true
	}
	return classifiedError(connectorkit.RateLimited, r)
}

func classifiedError(class connectorkit.Class, r *governhttp.Response) error {
	return &connectorkit.Error{Class: class, Status: r.Status, RetryAfter: r.RetryAfter, HasRetryAfter: r.HasRetryAfter}
}
