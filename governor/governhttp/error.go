package governhttp

import (
	"context"
	"errors"
	"net/url"
)

// Kind is why no usable answer came.
type Kind string

const (
	// Timeout means that the attempt took longer than Options.Timeout.
	Timeout Kind = "timeout"
	// Network means that the connection failed or broke.
	Network Kind = "network"
	// Unreachable means that there was no connection to send the request on.
	Unreachable Kind = "unreachable"
	// TooLarge means that the body exceeds Options.MaxBody.
	TooLarge Kind = "too_large"
	// Redirected means that the provider sent the request elsewhere.
	Redirected Kind = "redirected"
	// Unusable means that the transport can carry no request any more.
	Unusable Kind = "unusable"
)

// Error is an attempt without a usable answer. Its text names no URL, because
// query parameters may be secret.
type Error struct {
	Kind Kind
	Host string // that could not be reached; empty for another kind
	err  error
}

func (e *Error) Error() string { return "provider request: " + string(e.Kind) + ": " + e.err.Error() }

func (e *Error) Unwrap() error { return e.err }

// ErrUnusable is what a transport wraps that can carry no request any more: nothing is sent again.
var ErrUnusable = errors.New("the transport has ended")

var errRedirect = errors.New("redirect leaves the provider's host or never ends")

// WithoutURL is an error as it may be shown. net/http puts the URL in front of
// its errors; whatever is around such an error repeats that, so it goes too.
func WithoutURL(err error) error {
	var u *url.Error
	for errors.As(err, &u) {
		err = u.Err
	}
	return err
}

// UnreachableHost is the host that could not be reached, if that is what err says.
func UnreachableHost(err error) string {
	var e *Error
	if errors.As(err, &e) && e.Kind == Unreachable {
		return e.Host
	}
	return ""
}

// failure names what went wrong. A caller that gave up gets its own reason back.
func failure(caller, attempt context.Context, err error) error {
	if caller.Err() != nil {
		return context.Cause(caller)
	}
	err = WithoutURL(err)
	switch {
	case errors.Is(err, errRedirect):
		return &Error{Kind: Redirected, err: err}
	case errors.Is(err, ErrUnusable):
		return &Error{Kind: Unusable, err: err}
	case attempt.Err() != nil:
		return &Error{Kind: Timeout, err: context.Cause(attempt)}
	default:
		return &Error{Kind: Network, err: err}
	}
}

// wasCut tells a connection that broke before an answer came.
func wasCut(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind == Network
}
