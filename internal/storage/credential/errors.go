package credential

import "github.com/pdpp-go/pdpp/internal/ops/usererr"

// Codes of faults. They are stable, and no fault contains a secret.
const (
	// CodeWrongKey means that another key sealed it.
	CodeWrongKey = "credential_wrong_key"
	// CodeDamaged means that the sealed data was changed, or was sealed for another connection.
	CodeDamaged = "credential_damaged"
	// CodeInvalid means that the values cannot be a credential of this connector.
	CodeInvalid = "credential_invalid"
	// CodeKeyExposed means that others can read the key file.
	CodeKeyExposed = "key_file_exposed"
	// CodeKeyInvalid means that a text or file is not a valid key.
	CodeKeyInvalid = "key_invalid"
)

// Errors for errors.Is.
var (
	ErrWrongKey = &usererr.Error{Code: CodeWrongKey}
	ErrDamaged  = &usererr.Error{Code: CodeDamaged}
)
