package connectorkit

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"pdpp/governor"
	"pdpp/governor/governhttp"
	"pdpp/protocol"
)

// Class is what an author says about a failed call to the provider. The kit
// decides what follows from it.
type Class string

const (
	// RateLimited means that the provider asked to slow down.
	RateLimited Class = "rate_limited"
	// Unavailable means that no answer came, or a 5xx one.
	Unavailable Class = "temporary_unavailable"
	// Unauthorized means that the credential was not accepted. It ends the run.
	Unauthorized Class = "auth_failure"
	// Forbidden means that this credential may never see the thing asked for.
	Forbidden Class = "permanent_forbidden"
	// NotFound means that the provider knows no such thing.
	NotFound Class = "not_found"
	// Gone means that the thing existed and was removed.
	Gone Class = "gone"
	// Malformed means that the answer is not what the provider documents.
	Malformed Class = "malformed_answer"
	// Walled means that the provider wants to see a person before it answers: a check
	// against robots. Nothing is repeated and the run ends; it says nothing about the
	// credential.
	Walled Class = "challenge"
	// CursorRejected means that a stored cursor no longer works. A flat stream
	// then starts over, once.
	CursorRejected Class = "cursor_rejected"

	unclassified Class = "unclassified_error"
)

// Error is a classified failure. Err is logged, never sent: it may hold content.
type Error struct {
	Class         Class
	Status        int           // HTTP status, zero when there is none
	RetryAfter    time.Duration // how long the provider asks to wait
	HasRetryAfter bool          // it did ask, even if for no time at all
	// Words are a fixed text for the owner in place of the class's own. They hold
	// nothing of what a provider or a foreign program wrote.
	Words string
	Err   error

	stopped governor.StopReason // why we gave the request up, when that was our choice
	bare    bool            // it is based on the status; the answer's body was not read
}

func (e *Error) Error() string {
	if e.Err == nil {
		return string(e.Class)
	}
	return string(e.Class) + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// Kind is what the failure says about the provider, which decides whether the
// request is sent again and how the pace changes. A 503 asks to slow down as a
// 429 does, although an owner reads it as an outage.
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

// Fail classifies err.
func Fail(c Class, err error) error { return &Error{Class: c, Err: err} }

// End is an error that ends the run with a code of the connector's own. The message is
// for the owner and says what to do next; the hint is what would help.
func End(code, message string, hint protocol.RecoveryAction, retryable bool) error {
	return &failure{whole: true, verdict: verdict{code: code, message: message, retryable: retryable, hint: hint}}
}

// ByStatus classifies an answer by its status and its general headers; nil for
// 2xx. A 403 that names a wait or a spent quota is a limit, not a refusal; of any
// other only the body shows whether the credential is at fault. A connector's own classification handles what its
// provider does differently, then falls back to this.
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

// classify finds the class that an author gave, or one for a failed transport.
// A request that was given up keeps the class of its last attempt and says
// whether giving up was our choice.
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
		if slices.Contains([]governhttp.Kind{governhttp.Timeout, governhttp.Network, governhttp.Unreachable, governhttp.Unusable}, transport.Kind) {
			return &Error{Class: Unavailable, Err: err}
		}
		return &Error{Class: Malformed, Err: err}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &Error{Class: Unavailable, Err: err}
	}
	return &Error{Class: unclassified, Err: err}
}

// verdict is what a class means for a whole stream: the words for DONE.
type verdict struct {
	code      string
	message   string
	retryable bool
	hint      protocol.RecoveryAction
}

// verdictOf words a failure for the owner. Its text is fixed, so that nothing of
// the provider's answer can reach a message.
func (r *run) verdictOf(e *Error) verdict {
	if text := ownWords[e.stopped]; text != "" {
		return verdict{string(e.stopped), text, true, protocol.RetryByRuntime}
	}
	v := r.classVerdict(e)
	if e.Words != "" {
		v.message = e.Words
	}
	return v
}

// codeForbidden is the code of a 403 with an unknown cause.
const codeForbidden = "http_403"

func (r *run) classVerdict(e *Error) verdict {
	switch e.Class {
	case RateLimited:
		return verdict{r.c.Manifest.Key() + "_rate_limited", "the provider asked to slow down", true, protocol.RetryByRuntime}
	case Unavailable:
		if host := governhttp.UnreachableHost(e.Err); host != "" {
			return verdict{string(Unavailable), host + " could not be reached; check that this machine is online and can find that name, then run again", true, protocol.RetryByRuntime}
		}
		return verdict{string(Unavailable), "the provider could not be reached or did not answer properly", true, protocol.RetryByRuntime}
	case Unauthorized:
		if _, session := r.start.Bindings["browser"]; session {
			return verdict{r.c.Manifest.Key() + "_session_required", "the sign-in has ended; sign in again", false, protocol.RefreshCredentials}
		}
		return verdict{string(Unauthorized), "the provider did not accept the credential", false, protocol.RefreshCredentials}
	case Forbidden:
		if e.bare && e.Words == "" {
			return verdict{codeForbidden, "the provider refused access and does not say that the credential is the cause", true,
				protocol.RetryByRuntime}
		}
		return verdict{string(Forbidden), "the credential does not allow access", false, protocol.RefreshCredentials}
	case Walled:
		return verdict{r.c.Manifest.Key() + "_challenge", "the site wants to see a person before it answers; open it here once and do what it asks", false, protocol.ManualActionRequired}
	case NotFound, Gone:
		return verdict{string(e.Class), "the provider no longer offers this", false, protocol.RetryOnConnectorUpgrade}
	case Malformed, CursorRejected:
		return verdict{string(Malformed), "the provider answered in a form that this connector does not know", false, protocol.RetryOnConnectorUpgrade}
	default:
		return verdict{string(unclassified), "the connector failed in a way that it does not explain", true, protocol.UnknownRecovery}
	}
}
