package governhttp

import (
	"context"
	"errors"
	"net/url"
)

// FailureKind is the reason why there is no usable response.
type FailureKind string

const (
	// Timeout means that the attempt made no progress for Options.Timeout.
	Timeout FailureKind = "timeout"
	// Network means that the connection failed or broke.
	Network FailureKind = "network"
	// Unreachable means that no connection could be made.
	Unreachable FailureKind = "unreachable"
	// TooLarge means that the body exceeds Options.MaxBody.
	TooLarge FailureKind = "too_large"
	// Redirected means that the provider redirected the request to another host, or too often.
	Redirected FailureKind = "redirected"
	// Unusable means that the transport cannot send requests any more.
	Unusable FailureKind = "unusable"
)

// Error describes an attempt without a usable response. Its text contains no URL, because query parameters may be
// secret.
type Error struct {
	Kind FailureKind
	Host string // host that could not be reached; empty for other kinds
	err  error
}

func (e *Error) Error() string { return "provider request: " + string(e.Kind) + ": " + e.err.Error() }

func (e *Error) Unwrap() error { return e.err }

// ErrUnusable is wrapped by transports that cannot send requests any more. Such requests are not retried.
var ErrUnusable = errors.New("the transport has ended")

var errBadRedirect = errors.New("redirect leaves the provider's host or never ends")

// WithoutURL returns the error without the URL that net/http adds, so that it can be shown. Errors that wrap such
// an error repeat the URL, so WithoutURL removes them too.
func WithoutURL(err error) error {
	var u *url.Error
	for errors.As(err, &u) {
		err = u.Err
	}
	return err
}

// UnreachableHost returns the host that could not be reached, or "" for other errors.
func UnreachableHost(err error) string {
	var e *Error
	if errors.As(err, &e) && e.Kind == Unreachable {
		return e.Host
	}
	return ""
}

// attemptError converts the error of an attempt. If the caller's context has ended, it returns the cause.
func attemptError(caller, attempt context.Context, err error) error {
	if caller.Err() != nil {
		return context.Cause(caller)
	}
	err = WithoutURL(err)
	var own *Error
	switch {
	case errors.As(err, &own):
		return own
	case errors.Is(err, errBadRedirect):
		return &Error{Kind: Redirected, err: err}
	case errors.Is(err, ErrUnusable):
		return &Error{Kind: Unusable, err: err}
	case attempt.Err() != nil:
		return &Error{Kind: Timeout, err: context.Cause(attempt)}
	default:
		return &Error{Kind: Network, err: err}
	}
}

// brokeBeforeResponse reports whether the connection broke before a response arrived.
func brokeBeforeResponse(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind == Network
}
