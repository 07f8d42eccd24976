package connectorkit

import (
	"github.com/pdpp-go/pdpp/connectorkit/failure"
	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/protocol"
)

// Class is the author's classification of a failed call to the provider. The kit decides what follows from it.
type Class = failure.Class

// The classes of failures; see package failure.
const (
	RateLimited    = failure.RateLimited
	Unavailable    = failure.Unavailable
	Unauthorized   = failure.Unauthorized
	Forbidden      = failure.Forbidden
	NotFound       = failure.NotFound
	Gone           = failure.Gone
	Malformed      = failure.Malformed
	Challenge      = failure.Challenge
	CursorRejected = failure.CursorRejected
)

// Error is a classified failure.
type Error = failure.Error

// Fault describes a record that does not match its schema. It contains a location in the schema, never content.
type Fault = failure.Fault

var (
	// ErrNotInteractive means that no owner can be asked in this run.
	ErrNotInteractive = failure.ErrNotInteractive
	// ErrNotAnswered means that the owner declined or let the question expire.
	ErrNotAnswered = failure.ErrNotAnswered
)

// Fail returns err with a class.
func Fail(c Class, err error) error { return failure.Fail(c, err) }

// EndRun returns an error that ends the run with the connector's own code; see failure.EndRun.
func EndRun(code, message string, hint protocol.RecoveryAction, retryable bool) error {
	return failure.EndRun(code, message, hint, retryable)
}

// ByStatus classifies a response by its status and general headers; see failure.ByStatus.
func ByStatus(r *governhttp.Response) error { return failure.ByStatus(r) }

// WholeJSON returns nil if the body is one JSON object or list; see failure.WholeJSON.
func WholeJSON(r *governhttp.Response) error { return failure.WholeJSON(r) }
