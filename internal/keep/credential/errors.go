package credential

// Code tells errors apart. It is stable.
type Code string

const (
	// CodeWrongKey means that another key sealed it.
	CodeWrongKey Code = "credential_wrong_key"
	// CodeDamaged means that it is not what was sealed, or was sealed for another connection.
	CodeDamaged Code = "credential_damaged"
	// CodeInvalid means that the values cannot be a credential of this connector.
	CodeInvalid Code = "credential_invalid"
	// CodeKeyExposed means that others can read the key file.
	CodeKeyExposed Code = "key_file_exposed"
	// CodeKeyInvalid means that what should be a key is not one.
	CodeKeyInvalid Code = "key_invalid"
)

// Error is a fault that the owner can act on. It never holds a secret.
type Error struct {
	Code    Code
	Message string
	Next    string
}

func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// NextStep says what the owner can do about it.
func (e *Error) NextStep() string { return e.Next }

// Is makes errors of the same code match.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// For errors.Is.
var (
	ErrWrongKey = &Error{Code: CodeWrongKey}
	ErrDamaged  = &Error{Code: CodeDamaged}
)
