// Package failure classifies failed calls to a provider. A connector author returns an Error with a Class; the kit
// decides what follows from it for the request, the stream and the run. Package connectorkit has the same names.
package failure

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/protocol"
)

// Class is the author's classification of a failed call to the provider. The kit decides what follows from it.
type Class string

const (
	// RateLimited means that the provider asked to slow down.
	RateLimited Class = "rate_limited"
	// Unavailable means that there was no response, or a 5xx one.
	Unavailable Class = "temporary_unavailable"
	// Unauthorized means that the credential was not accepted. It ends the run.
	Unauthorized Class = "auth_failure"
	// Forbidden means that this credential can never access the requested object.
	Forbidden Class = "permanent_forbidden"
	// NotFound means that the provider does not know the object.
	NotFound Class = "not_found"
	// Gone means that the object existed and was deleted.
	Gone Class = "gone"
	// Malformed means that the response does not match the provider's documentation.
	Malformed Class = "malformed_answer"
	// Challenge means that the provider requires a person, for example a check against robots. Nothing is retried
	// and the run ends. The credential is not at fault.
	Challenge Class = "challenge"
	// CursorRejected means that a stored cursor no longer works. A PagedStream then starts over, once.
	CursorRejected Class = "cursor_rejected"

	unclassified Class = "unclassified_error"
)

// Error is a classified failure. Err is logged, never sent, because it may contain content.
type Error struct {
	Class         Class
	Status        int           // HTTP status, zero when there is none
	RetryAfter    time.Duration // how long the provider asks to wait
	HasRetryAfter bool          // it asked, possibly for no time at all
	// OwnerMessage is a fixed text for the owner that replaces the text of the class. It contains nothing that a
	// provider or a foreign program wrote.
	OwnerMessage string
	Err          error

	Stopped governor.StopReason // why the kit abandoned the request, if it chose to
	bare    bool                // based on the status; the body was not read
}

func (e *Error) Error() string {
	if e.Err == nil {
		return string(e.Class)
	}
	return string(e.Class) + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// Kind returns how the failure affects the pace and retries. A 503 asks to slow down like a 429, although an
// owner reads it as an outage.
func (e *Error) Kind() governor.Kind {
	switch {
	case e.Class == RateLimited, e.Class == Unavailable && e.Status == http.StatusServiceUnavailable:
		return governor.Throttled
	case e.Class == Unavailable:
		return governor.Failed
	default:
		return governor.Rejected
	}
}

// Fail returns err with a class.
func Fail(c Class, err error) error { return &Error{Class: c, Err: err} }

// EndRun returns an error that ends the run with the connector's own code. The message is for the owner and
// describes what to do next; hint is the recovery action.
func EndRun(code, message string, hint protocol.RecoveryAction, retryable bool) error {
	return &RunFailure{
		Whole:   true,
		Verdict: Verdict{Code: code, Message: message, Retryable: retryable, Hint: hint},
	}
}

// ByStatus classifies a response by its status and general headers. It returns nil for 2xx. A 403 with a wait or
// an exhausted quota is a limit. For any other 403 only the body shows whether the credential is at fault. A
// connector first handles the specifics of its provider and then calls ByStatus.
func ByStatus(r *governhttp.Response) error {
	e := &Error{Status: r.Status, RetryAfter: r.RetryAfter, HasRetryAfter: r.HasRetryAfter}
	switch {
	case r.Status >= 200 && r.Status < 300:
		return nil
	case r.Status == http.StatusTooManyRequests,
		r.Status == http.StatusForbidden && governhttp.Meaning(r) == governor.Throttled:
		e.Class = RateLimited
	case r.Status == http.StatusRequestTimeout, r.Status >= 500:
		e.Class = Unavailable
	case r.Status == http.StatusUnauthorized:
		e.Class = Unauthorized
	case r.Status == http.StatusForbidden:
		e.Class, e.bare = Forbidden, true
	case r.Status == http.StatusNotFound:
		e.Class = NotFound
	case r.Status == http.StatusGone:
		e.Class = Gone
	default:
		e.Class = Malformed
	}
	return e
}

// ClassifyError returns the author's class, or one for a failed transport. An abandoned request keeps the class
// of its last attempt and records whether we chose to stop.
func ClassifyError(err error) *Error {
	e := authorClass(err)
	var s *governhttp.Stopped
	if !errors.As(err, &s) {
		return e
	}
	given := *e
	given.Stopped = s.Reason
	switch {
	case given.Class != unclassified:
	case s.Limited():
		given.Class = RateLimited
	default:
		given.Class = Unavailable
	}
	if s.RetryAfter > 0 {
		given.RetryAfter = s.RetryAfter
	}
	return &given
}

func authorClass(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	var transport *governhttp.Error
	if errors.As(err, &transport) {
		if slices.Contains(
			[]governhttp.FailureKind{governhttp.Timeout, governhttp.Network, governhttp.Unreachable, governhttp.Unusable},
			transport.Kind,
		) {
			return &Error{Class: Unavailable, Err: err}
		}
		return &Error{Class: Malformed, Err: err}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &Error{Class: Unavailable, Err: err}
	}
	return &Error{Class: unclassified, Err: err}
}
