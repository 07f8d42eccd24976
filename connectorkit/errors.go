package connectorkit

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

	stopped governor.StopReason // why we gave up the request, if we chose to
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

// End returns an error that ends the run with the connector's own code. The message is for the owner and
// describes what to do next; hint is the recovery action.
func End(code, message string, hint protocol.RecoveryAction, retryable bool) error {
	return &runFailure{
		whole:        true,
		classVerdict: classVerdict{code: code, message: message, retryable: retryable, hint: hint},
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

// classify returns the author's class, or one for a failed transport. An abandoned request keeps the class
// of its last attempt and records whether we chose to stop.
func classify(err error) *Error {
	e := classOf(err)
	var s *governhttp.Stopped
	if !errors.As(err, &s) {
		return e
	}
	given := *e
	given.stopped = s.Reason
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

func classOf(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	var transport *governhttp.Error
	if errors.As(err, &transport) {
		if slices.Contains(
			[]governhttp.Kind{governhttp.Timeout, governhttp.Network, governhttp.Unreachable, governhttp.Unusable},
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

// classVerdict contains what a class means for a whole stream: the texts for DONE.
type classVerdict struct {
	code      string
	message   string
	retryable bool
	hint      protocol.RecoveryAction
}

// verdictOf returns the texts for the owner. They are fixed, so that no part of the provider's response can reach
// a message.
func (r *runState) verdictOf(e *Error) classVerdict {
	if text := ownStopMessages[e.stopped]; text != "" {
		return classVerdict{string(e.stopped), text, true, protocol.RetryByRuntime}
	}
	v := r.classVerdict(e)
	if e.OwnerMessage != "" {
		v.message = e.OwnerMessage
	}
	return v
}

// codeForbidden is the code of a 403 with an unknown cause.
const codeForbidden = "http_403"

func (r *runState) classVerdict(e *Error) classVerdict {
	switch e.Class {
	case RateLimited:
		return classVerdict{
			r.c.Manifest.Key() + "_rate_limited",
			"the provider asked to slow down",
			true,
			protocol.RetryByRuntime,
		}
	case Unavailable:
		if host := governhttp.UnreachableHost(e.Err); host != "" {
			return classVerdict{
				string(Unavailable),
				host + " could not be reached; check that this machine is online and can find that name, then run again",
				true,
				protocol.RetryByRuntime,
			}
		}
		return classVerdict{
			string(Unavailable),
			"the provider could not be reached or did not answer properly",
			true,
			protocol.RetryByRuntime,
		}
	case Unauthorized:
		if _, session := r.start.Bindings["browser"]; session {
			return classVerdict{
				r.c.Manifest.Key() + "_session_required",
				"the sign-in has ended; sign in again",
				false,
				protocol.RefreshCredentials,
			}
		}
		return classVerdict{
			string(Unauthorized),
			"the provider did not accept the credential",
			false,
			protocol.RefreshCredentials,
		}
	case Forbidden:
		if e.bare && e.OwnerMessage == "" {
			return classVerdict{
				codeForbidden,
				"the provider refused access and does not say that the credential is the cause",
				true,
				protocol.RetryByRuntime,
			}
		}
		return classVerdict{string(Forbidden), "the credential does not allow access", false, protocol.RefreshCredentials}
	case Challenge:
		return classVerdict{
			r.c.Manifest.Key() + "_challenge",
			"the site wants to see a person before it answers; open it here once and do what it asks",
			false,
			protocol.ManualActionRequired,
		}
	case NotFound, Gone:
		return classVerdict{string(e.Class), "the provider no longer offers this", false, protocol.RetryOnConnectorUpgrade}
	case Malformed, CursorRejected:
		return classVerdict{
			string(Malformed),
			"the provider answered in a form that this connector does not know",
			false,
			protocol.RetryOnConnectorUpgrade,
		}
	default:
		return classVerdict{
			string(unclassified),
			"the connector failed in a way that it does not explain",
			true,
			protocol.UnknownRecovery,
		}
	}
}
