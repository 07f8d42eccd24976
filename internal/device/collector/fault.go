package collector

import (
	"fmt"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
)

// operatorFault is a mistake of the person at the keyboard or of the profile: nothing was
// touched.
func operatorFault(code, next, format string, args ...any) *usererr.Error {
	return &usererr.Error{Code: code, Message: fmt.Sprintf(format, args...), Next: next}
}
