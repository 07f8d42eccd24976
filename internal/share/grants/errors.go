package grants

import (
	"net/http"
	"time"
)

// Codes of errors. Each says one thing.
const (
	CodeUnauthenticated   = "authentication_error" // no bearer at all
	CodeInvalidToken      = "invalid_token"        // a bearer that nobody was given
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
	CodeInvalidGrant      = "invalid_grant" // a code that cannot be redeemed
	CodeRateLimit         = "rate_limit_exceeded"
	CodeReadTimeout       = "read_timeout"
)

// Error is a refusal. Message and Next are safe to show to whoever asked.
type Error struct {
	Status  int // of HTTP
	Code    string
	Message string
	Next    string
	Param   string // the member that is wrong
	// RetryAfter is how long to wait before trying again; zero when it is not about that.
	RetryAfter time.Duration
}

func (e *Error) Error() string { return e.Message }

// Is makes errors with the same code equal.
func (e *Error) Is(target error) bool {
	other, ok := target.(*Error)
	return ok && other.Code == e.Code
}

// Refused builds a refusal with the status that its code has.
func Refused(code, param, message, next string) *Error {
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
	return &Error{Status: status, Code: code, Param: param, Message: message, Next: next}
}

func errInvalidCursor() error {
	return Refused(CodeInvalidCursor, "cursor", "The cursor does not belong to this list.", "Begin again without a cursor.")
}

func invalid(param, message, next string) error {
	return Refused(CodeInvalidRequest, param, message, next)
}
