package grants

import (
	"net/http"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
)

// Codes of errors.
const (
	CodeUnauthenticated   = "authentication_error" // no bearer at all
	CodeInvalidToken      = "invalid_token"        // unknown bearer
	CodeGrantRevoked      = "grant_revoked"
	CodeGrantExpired      = "grant_expired"
	CodeGrantConsumed     = "grant_consumed"
	CodeInsufficientScope = "insufficient_scope"
	CodeInvalidCursor     = "invalid_cursor"
	CodeInvalidRequest    = "invalid_request"
	CodeUnknownField      = "unknown_field"
	CodeNotFound          = "not_found"
	CodeAlreadyDecided    = "request_already_decided"
	CodeInvalidClient     = "invalid_client"
	CodeInvalidRedirect   = "invalid_redirect_uri"
	CodeInvalidDetails    = "invalid_authorization_details"
	CodeInvalidTarget     = "invalid_target" // a resource of another server
	CodeInvalidGrant      = "invalid_grant"  // a code that cannot be redeemed
	CodeRateLimit         = "rate_limit_exceeded"
	CodeReadTimeout       = "read_timeout"
)

// UserError is usererr.Error under a name that can be embedded without hiding its Error method.
type UserError = usererr.Error

// Refusal is an error that was made for clients. Other errors are for the owner and are never sent to a client.
type Refusal struct{ *UserError }

// Unwrap returns the refusal as a plain user error, for the owner.
func (r Refusal) Unwrap() error { return r.UserError }

// Refused builds a refusal with the status that its code has.
func Refused(code, param, message, next string) Refusal {
	status := http.StatusBadRequest
	switch code {
	case CodeUnauthenticated, CodeInvalidToken:
		status = http.StatusUnauthorized
	case CodeGrantRevoked, CodeGrantExpired, CodeGrantConsumed, CodeInsufficientScope:
		status = http.StatusForbidden
	case CodeNotFound:
		status = http.StatusNotFound
	case CodeAlreadyDecided:
		status = http.StatusConflict
	case CodeRateLimit:
		status = http.StatusTooManyRequests
	case CodeReadTimeout:
		status = http.StatusServiceUnavailable
	}
	return Refusal{&usererr.Error{Status: status, Code: code, Param: param, Message: message, Next: next}}
}

func errInvalidCursor() error {
	return Refused(CodeInvalidCursor, "cursor", "The cursor does not belong to this list.",
		"Begin again without a cursor.")
}

func invalid(param, message, next string) error {
	return Refused(CodeInvalidRequest, param, message, next)
}
