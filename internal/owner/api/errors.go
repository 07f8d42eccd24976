package api

import (
	"net/http"
	"time"
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
	CodeUnauthenticated = "authentication_error"
	CodeUnreachable     = "server_unreachable"
	CodeGapRecovered    = "gap_recovered"
)

// Error is something that an owner can act on. Message and Next are shown as they are.
type Error struct {
	Status  int    `json:"-"` // of HTTP
	Code    string `json:"code"`
	Message string `json:"message"`
	Next    string `json:"next_step,omitempty"`
	Param   string `json:"param,omitempty"`  // the field that is wrong
	RunID   string `json:"run_id,omitempty"` // of run_already_active
	// Until and ConnectionID are of provider_wait: when the source may be asked again.
	Until        *time.Time `json:"until,omitempty"`
	ConnectionID string     `json:"connection_id,omitempty"`
	Err          error      `json:"-"`
}

func (e *Error) Error() string { return e.Message }

func (e *Error) Unwrap() error { return e.Err }

// NotFound says that there is no such thing.
func NotFound(message, next string) *Error {
	return &Error{Status: http.StatusNotFound, Code: CodeNotFound, Message: message, Next: next}
}

// Invalid says that a value cannot be taken, and which one.
func Invalid(param, message, next string) *Error {
	return &Error{Status: http.StatusBadRequest, Code: CodeInvalid, Message: message, Next: next, Param: param}
}
