package credential

import "github.com/pdpp-go/pdpp/internal/ops/fault"

// Codes of faults. They are stable, and no fault holds a secret.
const (
	// CodeWrongKey means that another key sealed it.
	CodeWrongKey = "credential_wrong_key"
	// CodeDamaged means that it is not what was sealed, or was sealed for another connection.
	CodeDamaged = "credential_damaged"
	// CodeInvalid means that the values cannot be a credential of this connector.
	CodeInvalid = "credential_invalid"
	// CodeKeyExposed means that others can read the key file.
	CodeKeyExposed = "key_file_exposed"
	// CodeKeyInvalid means that what should be a key is not one.
	CodeKeyInvalid = "key_invalid"
)

// For errors.Is.
var (
	ErrWrongKey = &fault.Fault{Code: CodeWrongKey}
	ErrDamaged  = &fault.Fault{Code: CodeDamaged}
)
