package governhttp

import (
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

// Stopped is the error of a request without a final response: the attempts or the retries are used up, the run
// cannot afford the wait, or the circuit is open.
type Stopped struct {
	Provider string
	// Kind is Throttled or Failed after the last attempt, or Rejected if the request was never sent.
	Kind governor.Kind
	// Reason names the limit of our own that stopped the request. It is empty if the attempts are used up or the
	// provider asks for a longer wait than the run allows.
	Reason   governor.StopReason
	Attempts int
	// RetryAfter is how long to pause, if known: as the provider asked, or until the circuit closes.
	RetryAfter time.Duration
	ByProvider bool // the provider asked for RetryAfter
	// Err is the error of the last attempt, nil if there was none.
	Err error
}

// Error returns the provider's name with "_rate_limited" if the provider's limit stopped the request. Schedulers
// recognize that text.
func (s *Stopped) Error() string {
	switch {
	case s.Limited():
		return s.Provider + "_rate_limited"
	case s.Attempts == 0:
		return fmt.Sprintf("%s: request is not sent: %s", s.Provider, s.Reason)
	}
	text := fmt.Sprintf("%s: no answer after %d attempts", s.Provider, s.Attempts)
	if s.Reason != "" {
		text += " (" + string(s.Reason) + ")"
	}
	if s.Err != nil {
		text += ": " + WithoutURL(s.Err).Error()
	}
	return text
}

// Limited reports whether the provider's limit stopped the request: it refused because of the pace, or asked for
// a longer wait than the run allows.
func (s *Stopped) Limited() bool {
	return s.Kind == governor.Throttled || s.Attempts == 0 && s.Reason == ""
}

func (s *Stopped) Unwrap() error { return s.Err }
