// Package usererr is the error type for people: which case it is, what is wrong, and what to do about it. The code
// that detects the condition creates the error; clients show it unchanged.
package usererr

import (
	"net/http"
	"time"
)

// Error is an error that a person can act on. Message and Next are shown unchanged and contain no secret. Internal
// details are in Err.
type Error struct {
	Code    string `json:"code"` // stable, for programs
	Message string `json:"message"`
	Next    string `json:"next_step,omitempty"`
	Param   string `json:"param,omitempty"`  // the invalid input
	RunID   string `json:"run_id,omitempty"` // the conflicting run
	// Until and ConnectionID are set if the source must not be asked before that time.
	Until        *time.Time `json:"until,omitempty"`
	ConnectionID string     `json:"connection_id,omitempty"`

	Status int `json:"-"` // HTTP status; zero if the error never reaches HTTP
	Exit   int `json:"-"` // exit code; zero if code and status decide it
	// RetryAfter is when a retry may succeed; zero if waiting does not help.
	RetryAfter time.Duration `json:"-"`
	Err        error         `json:"-"` // for the log and for errors.Is
}

// New returns an error about invalid input.
func New(code, message, next string) *Error {
	return &Error{Status: http.StatusBadRequest, Code: code, Message: message, Next: next}
}

// Error implements error.
func (f *Error) Error() string { return f.Message }

// Unwrap returns the internal cause.
func (f *Error) Unwrap() error { return f.Err }

// NextStep returns what can be done about it.
func (f *Error) NextStep() string { return f.Next }

// Is reports whether target is an Error with the same code.
func (f *Error) Is(target error) bool {
	other, ok := target.(*Error)
	return ok && other.Code == f.Code
}
