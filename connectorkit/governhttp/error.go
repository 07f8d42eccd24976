package governhttp

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Kind is why no usable answer came.
type Kind string

const (
	// Timeout means that the attempt took longer than Options.Timeout.
	Timeout Kind = "timeout"
	// Network means that the connection failed or broke.
	Network Kind = "network"
	// TooLarge means that the body exceeds Options.MaxBody.
	TooLarge Kind = "too_large"
	// Redirected means that the provider sent the request elsewhere.
	Redirected Kind = "redirected"
)

// Error is an attempt without a usable answer. Its text names no URL, because
// query parameters may be secret.
type Error struct {
	Kind Kind
	err  error
}

func (e *Error) Error() string { return "provider request: " + string(e.Kind) + ": " + e.err.Error() }

func (e *Error) Unwrap() error { return e.err }

var errRedirect = errors.New("redirect leaves the provider's host or never ends")

// failure names what went wrong. A caller that gave up gets its own reason back.
func failure(caller, attempt context.Context, err error) error {
	if caller.Err() != nil {
		return context.Cause(caller)
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err // the outer text repeats the URL
	}
	switch {
	case errors.Is(err, errRedirect):
		return &Error{Kind: Redirected, err: err}
	case attempt.Err() != nil:
		return &Error{Kind: Timeout, err: context.Cause(attempt)}
	default:
		return &Error{Kind: Network, err: err}
	}
}

// retryAfter reads both forms of the header. A date is measured from the
// answer's own Date, so that a wrong clock on either side does no harm.
func retryAfter(h http.Header, now func() time.Time) time.Duration {
	text := h.Get("Retry-After")
	if text == "" {
		return 0
	}
	if seconds, err := strconv.Atoi(text); err == nil {
		const most = 365 * 24 * 3600
		return time.Duration(min(max(seconds, 0), most)) * time.Second
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	from, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		from = now()
	}
	return max(0, at.Sub(from))
}
