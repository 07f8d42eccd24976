package collector

import "fmt"

// OperatorError is a mistake of the person at the keyboard or of the profile:
// nothing was touched, and Next says what to do.
type OperatorError struct {
	Code    string
	Message string
	Next    string
}

func (e *OperatorError) Error() string { return e.Message }

func operatorError(code, next, format string, args ...any) *OperatorError {
	return &OperatorError{Code: code, Message: fmt.Sprintf(format, args...), Next: next}
}
