package connectorkit

import (
	"context"
	"errors"
	"net/http"
	"time"

	"pdpp/connectorkit/governhttp"
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
	// CursorRejected means that a stored cursor no longer works. A flat stream
	// then starts over, once.
	CursorRejected Class = "cursor_rejected"

	unclassified Class = "unclassified_error"
)

// Error is a classified failure. Err is logged, never sent: it may hold content.
type Error struct {
	Class      Class
	Status     int           // HTTP status, zero when there is none
	RetryAfter time.Duration // how long the provider asks to wait
	Err        error
}

func (e *Error) Error() string {
	if e.Err == nil {
		return string(e.Class)
	}
	return string(e.Class) + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// Fail classifies err.
func Fail(c Class, err error) error { return &Error{Class: c, Err: err} }

// ByStatus classifies an answer by its status alone; nil for 2xx. A connector's
// own classification handles what its provider does differently, then falls
// back to this.
func ByStatus(r *governhttp.Response) error {
	e := &Error{Status: r.Status, RetryAfter: r.RetryAfter}
	switch {
	case r.Status >= 200 && r.Status < 300:
		return nil
	case r.Status == http.StatusTooManyRequests:
		e.Class = RateLimited
	case r.Status == http.StatusRequestTimeout, r.Status >= 500:
		e.Class = Unavailable
	case r.Status == http.StatusUnauthorized:
		e.Class = Unauthorized
	case r.Status == http.StatusForbidden:
		e.Class = Forbidden
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
func classify(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	var transport *governhttp.Error
	if errors.As(err, &transport) {
		if transport.Kind == governhttp.Timeout || transport.Kind == governhttp.Network {
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
	switch e.Class {
	case RateLimited:
		return verdict{r.c.Manifest.Key() + "_rate_limited", "the provider asked to slow down", true, protocol.RetryByRuntime}
	case Unavailable:
		return verdict{string(Unavailable), "the provider could not be reached or did not answer properly", true, protocol.RetryByRuntime}
	case Unauthorized:
		return verdict{string(Unauthorized), "the provider did not accept the credential", false, protocol.RefreshCredentials}
	case Forbidden:
		return verdict{string(Forbidden), "the credential does not allow access", false, protocol.RefreshCredentials}
	case NotFound, Gone:
		return verdict{string(e.Class), "the provider no longer offers this", false, protocol.RetryOnConnectorUpgrade}
	case Malformed, CursorRejected:
		return verdict{string(Malformed), "the provider answered in a form that this connector does not know", false, protocol.RetryOnConnectorUpgrade}
	default:
		return verdict{string(unclassified), "the connector failed in a way that it does not explain", true, protocol.UnknownRecovery}
	}
}
