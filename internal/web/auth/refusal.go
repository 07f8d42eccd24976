package auth

import (
	"net/http"
	"time"
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
	CodePasskey           = "passkey_refused"
	CodeWrongCode         = "wrong_recovery_code"
)

// Refusal is a no that the owner can act on. Message and Next are shown as they are.
type Refusal struct {
	Status  int // of HTTP
	Code    string
	Message string
	Next    string
	Param   string // the field that is wrong
	// RetryAfter is how long it stays a no; zero unless waiting helps.
	RetryAfter time.Duration
}

func (e *Refusal) Error() string { return e.Message }

func invalid(param, code, message, next string) *Refusal {
	return &Refusal{Status: http.StatusBadRequest, Code: code, Param: param, Message: message, Next: next}
}
