package governhttp

import (
	"fmt"
	"time"

	"pdpp/governor"
)

// Stopped is a request that got no final answer. All of its ways to end have
// this one shape: attempts used up, retries used up, a wait that the run cannot
// afford, an open circuit.
type Stopped struct {
	Provider string
	// Kind is Throttled or Failed after the last attempt, Rejected when the
	// request was never sent.
	Kind governor.Kind
	// Reason is set when the stop is our own choice. It is empty when the attempts
	// are used up or the provider asks for a longer wait than the run allows.
	Reason   governor.Reason
	Attempts int
	// RetryAfter is how long to keep quiet, when that is known: what the provider
	// asked for, or what is left of an open circuit.
	RetryAfter time.Duration
	ByProvider bool // the provider asked for RetryAfter; it is not the circuit's
	// Err is what the last attempt said; nil when there was none.
	Err error
}

// Error is the provider's name with "_rate_limited" whenever the provider's
// limit is what stopped the request. Schedulers recognise that text.
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

// Limited tells whether the provider's limit stopped the request: it refused
// because of the pace, or it asked beforehand for a longer wait than allowed.
func (s *Stopped) Limited() bool {
	return s.Kind == governor.Throttled || s.Attempts == 0 && s.Reason == ""
}

func (s *Stopped) Unwrap() error { return s.Err }
