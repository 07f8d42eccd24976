package expression

import "fmt"

// class is the class of an error during an evaluation. It decides what the result of the template is.
type class uint8

const (
	valueClass     class = iota // the evaluation fails
	typeClass                   // an operation on a wrong kind: the result is the text of the template itself
	undefinedClass              // a member of an absent value: the result is the default
	boundClass                  // a bound was reached; the evaluation fails whatever the default is
)

// failure is an error during an evaluation.
type failure struct {
	class class
	text  string
}

// Error returns the text of the failure.
func (f *failure) Error() string { return f.text }

func typeError(format string, args ...any) error {
	return &failure{typeClass, fmt.Sprintf(format, args...)}
}

func valueError(format string, args ...any) error {
	return &failure{valueClass, fmt.Sprintf(format, args...)}
}

func undefinedError(format string, args ...any) error {
	return &failure{undefinedClass, fmt.Sprintf(format, args...)}
}

func classOf(err error) class {
	if f, ok := err.(*failure); ok {
		return f.class
	}
	return valueClass
}

// SyntaxError reports text that is not a template.
type SyntaxError struct {
	Offset  int // bytes before the place
	Message string
}

// Error describes the place and the problem.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("at character %d: %s", e.Offset+1, e.Message)
}

// UnknownError reports a name that the language does not have.
type UnknownError struct {
	Offset    int
	What      string // "function", "filter", "test", "variable", "method" or "statement"
	Name      string
	Elsewhere bool // the variable exists, but not in this place of a document
}

// Error describes the name.
func (e *UnknownError) Error() string {
	if e.Elsewhere {
		return fmt.Sprintf("at character %d: the %s %q has no value here", e.Offset+1, e.What, e.Name)
	}
	return fmt.Sprintf("at character %d: there is no %s %q", e.Offset+1, e.What, e.Name)
}
