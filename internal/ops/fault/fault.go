// Package fault is what a person is told when something cannot be done: which case it is,
// what is the matter, and what to do about it. The part that knows the condition makes the
// fault; a surface shows it and adds nothing.
package fault

import (
	"net/http"
	"time"
)

// Fault is an error that a person can act on. Message and Next are shown as they are: they
// hold no secret and nothing of the machinery, which stays in Err.
type Fault struct {
	Code    string `json:"code"` // stable, for programs
	Message string `json:"message"`
	Next    string `json:"next_step,omitempty"`
	Param   string `json:"param,omitempty"`  // what was given and is wrong
	RunID   string `json:"run_id,omitempty"` // the run that is in the way
	// Until and ConnectionID are of a source that is left alone: before when nothing was
	// started.
	Until        *time.Time `json:"until,omitempty"`
	ConnectionID string     `json:"connection_id,omitempty"`

	Status int `json:"-"` // of HTTP; zero where no surface of HTTP meets it
	Exit   int `json:"-"` // of the program; zero where the code and the status decide it
	// RetryAfter is how long it stays so; zero unless waiting helps.
	RetryAfter time.Duration `json:"-"`
	Err        error         `json:"-"` // for the log and for errors.Is
}

// New makes a fault of something that was given and cannot be taken.
func New(code, message, next string) *Fault {
	return &Fault{Status: http.StatusBadRequest, Code: code, Message: message, Next: next}
}

func (f *Fault) Error() string { return f.Message }

func (f *Fault) Unwrap() error { return f.Err }

// NextStep says what can be done about it.
func (f *Fault) NextStep() string { return f.Next }

// Is makes faults of the same code match.
func (f *Fault) Is(target error) bool {
	other, ok := target.(*Fault)
	return ok && other.Code == f.Code
}
