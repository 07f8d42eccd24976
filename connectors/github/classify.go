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
	errHTML      = errors.New("the answer is a web page")
	errEmpty     = errors.New("the answer is empty")
	errTruncated = errors.New("the answer ends early")
	errTimedOut  = errors.New("the search timed out and gives a part of its results")
)

const (
	// quiet is what GitHub asks for after a secondary refusal that names no time;
	// each one in a row doubles it.
	quiet = time.Minute
	// lockout is how long the sign-in is left alone after it was locked by too many
	// refused tokens. It is longer than any run waits.
	lockout = 15 * time.Minute
)

// judge says what answers mean. It counts the secondary refusals in a row.
type judge struct{ refusals atomic.Int32 }

// refusal is the body of an error.
type refusal struct {
	Message string `json:"message"`
	Docs    string `json:"documentation_url"`
}

func (r refusal) says(text string) bool { return strings.Contains(strings.ToLower(r.Message), text) }

// classify handles what GitHub does in its own way and leaves the rest to the
// meaning of the status.
func (j *judge) classify(r *governhttp.Response) error {
	switch {
	case r.Status == http.StatusNotModified:
		j.refusals.Store(0)
		return nil
	case r.Status == http.StatusOK:
		j.refusals.Store(0)
		return readable(r)
	case r.Status == http.StatusForbidden, r.Status == http.StatusTooManyRequests:
		return j.refused(r)
	case r.Status == http.StatusUnavailableForLegalReasons:
		return failed(connectorkit.Forbidden, r)
	}
	return connectorkit.ByStatus(r)
}

// readable tells a good answer from one that only has the status of one. Under
// load bodies end early and searches stop half-way; both are worth a repetition.
func readable(r *governhttp.Response) error {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case kind == "text/html":
		return connectorkit.Fail(connectorkit.Malformed, errHTML)
	case len(r.Body) == 0:
		return connectorkit.Fail(connectorkit.Malformed, errEmpty)
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

// refused reads a 403 or 429. The words decide before the numbers do: a refusal
// for good can come with the last request of an allowance, and a secondary limit
// comes while the primary one has plenty left.
func (j *judge) refused(r *governhttp.Response) error {
	var body refusal
	decoded := json.Unmarshal(r.Body, &body) == nil // without words, the headers decide
	sso, _, _ := strings.Cut(r.Header.Get("X-GitHub-SSO"), ";")
	spent := r.Quota.Known && r.Quota.Remaining == 0
	switch {
	case body.says("secondary rate limit"), body.says("abuse detection"), strings.Contains(body.Docs, "secondary-rate-limits"):
		return j.limited(r, quiet<<min(j.refusals.Add(1)-1, 10))
	case body.says("api rate limit exceeded"):
		return j.limited(r, r.Quota.Reset)
	case body.says("login attempts exceeded"):
		return j.limited(r, lockout)
	case strings.TrimSpace(sso) == "required", body.says("not accessible by"):
		return failed(connectorkit.Forbidden, r)
	case r.HasRetryAfter, spent, r.Status == http.StatusTooManyRequests:
		return j.limited(r, r.Quota.Reset)
	case strings.Contains(string(r.Body), "administrative rules"):
		return failed(connectorkit.Malformed, r) // our own headers are at fault
	case !decoded:
		return failed(connectorkit.Unavailable, r) // somebody before GitHub speaks
	}
	return failed(connectorkit.Forbidden, r)
}

// limited is a limit that ends after a time: the one that was told, else wait.
func (j *judge) limited(r *governhttp.Response, wait time.Duration) error {
	if !r.HasRetryAfter && wait > 0 {
		r.RetryAfter, r.HasRetryAfter = wait, true
	}
	return failed(connectorkit.RateLimited, r)
}

func failed(class connectorkit.Class, r *governhttp.Response) error {
	return &connectorkit.Error{Class: class, Status: r.Status, RetryAfter: r.RetryAfter, HasRetryAfter: r.HasRetryAfter}
}
