package auth

import (
	"net/http"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
)

// Codes of refusals.
const (
	CodeWrongPassword     = "wrong_password"
	CodeTooManyTries      = "too_many_tries"
	CodePasswordShort     = "password_too_short"
	CodePasswordLong      = "password_too_long"
	CodeNoPassword        = "no_password"
	CodeLabel             = "invalid_label"
	CodeExpiry            = "invalid_expiry"
	CodeUnauthenticated   = "authentication_error"
	CodeScope             = "invalid_scope"
	CodeInsufficientScope = "insufficient_scope"
	CodeConfirm           = "confirmation_required"
	CodeConfirmOnMachine  = "connector_unconfirmed"
	CodePasskey           = "passkey_refused"
	CodeWrongCode         = "wrong_recovery_code"
)

func invalidInput(param, code, message, next string) *usererr.Error {
	return &usererr.Error{Status: http.StatusBadRequest, Code: code, Param: param, Message: message, Next: next}
}
