package api

import (
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
)

// Codes of errors.
const (
	CodeNotFound        = "not_found"
	CodeInvalid         = "invalid_request"
	CodeRunActive       = "run_already_active"
	CodeProviderWait    = "provider_wait"
	CodeNoActiveRun     = "no_active_run"
	CodeNoQuestion      = "no_pending_interaction"
	CodeWrongQuestion   = "interaction_id_mismatch"
	CodeInvalidCursor   = "invalid_cursor"
	CodeUnknownField    = "unknown_field"
	CodeNotInstalled    = "connector_not_installed"
	CodeCredentialForm  = "credential_incomplete"
	CodeRevoked         = "connection_revoked"
	CodeUnfinished      = "connection_unfinished"
	CodeTooLate         = "too_late"
	CodeUnauthenticated = "authentication_error"
	CodeUnreachable     = "server_unreachable"
	CodeGapRecovered    = "gap_recovered"
	CodeNoProviderApp   = "provider_app_missing"
)

// Error is the error that the owner sees.
type Error = usererr.Error

// Moment is how the message of an error names the time in Until. Who knows the owner's zone
// puts its own words there.
func Moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") + " UTC" }

// NotFound returns the error for an object that does not exist.
func NotFound(message, next string) *Error {
	return &Error{Status: http.StatusNotFound, Code: CodeNotFound, Message: message, Next: next}
}

// Invalid returns the error for a parameter with an unacceptable value.
func Invalid(param, message, next string) *Error {
	return &Error{Status: http.StatusBadRequest, Code: CodeInvalid, Message: message, Next: next, Param: param}
}
