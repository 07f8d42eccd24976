// Package faults is how trouble reaches an owner: what other parts only name becomes a
// fault.
package faults

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/view"
)

// OwnerError converts an error to an owner-facing error with a complete sentence. It translates errors of the store
// and the view. It wraps any other error with doing, and returns nil for nil.
func OwnerError(err error, doing string) error {
	var known *usererr.Error
	var unusable *store.FaultError
	var active *store.ActiveRunError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		out := *known
		out.Message, out.Err = text.Sentence(out.Message), err
		return &out
	case errors.As(err, &unusable):
		return &api.Error{Status: http.StatusServiceUnavailable, Code: string(unusable.Fault),
			Message: "The database cannot be used right now.", Next: unusable.NextStep(), Err: err}
	case errors.As(err, &active):
		return &api.Error{Status: http.StatusConflict, Code: api.CodeRunActive, RunID: active.RunID, Err: err,
			Message: "A run of this connection is under way.", Next: "Wait for it to end, or cancel it."}
	case errors.Is(err, view.ErrNotFound):
		return ConnectionNotFound(err)
	default:
		return fmt.Errorf("%s: %w", doing, err)
	}
}

// ConnectionNotFound returns the error for a connection that does not exist.
func ConnectionNotFound(err error) *api.Error {
	e := api.NotFound("There is no such connection.", "Choose one of your connections.")
	e.Err = err
	return e
}

// RunNotFound returns the error for a run that does not exist.
func RunNotFound(err error) *api.Error {
	e := api.NotFound("There is no such run.", "Choose one of the connection's runs.")
	e.Err = err
	return e
}

// ConnectionRevoked returns the error for a connection that was ended.
func ConnectionRevoked() *api.Error {
	return &api.Error{Status: http.StatusConflict, Code: api.CodeRevoked, Message: "This connection was ended.",
		Next: "Its records are kept. Connect the source again to collect on."}
}

// ConnectionUnfinished returns the error for a connection without the owner's consent at the provider.
func ConnectionUnfinished() *api.Error {
	return &api.Error{Status: http.StatusConflict, Code: api.CodeUnfinished,
		Message: "This source is not connected yet: you have not allowed it at the provider.",
		Next:    "Sign in there, or connect the source again."}
}

// ConnectorNotInstalled returns the error for a connector that is missing or unusable. For an unusable connector, the
// message names the defect and the folder to correct.
func ConnectorNotInstalled(err error) *api.Error {
	out := &api.Error{Status: http.StatusConflict, Code: api.CodeNotInstalled, Err: err,
		Message: "The connector is installed, and cannot be used.", Next: "See pdpp doctor on the server's machine."}
	var unusable *catalog.UnusableError
	if errors.As(err, &unusable) {
		out.Message, out.Next = text.Cut(text.Line(text.Sentence(unusable.Error())), 1000),
			"Correct it in "+unusable.Dir+" on the server's machine."
	}
	if errors.Is(err, catalog.ErrUnknownConnector) {
		out.Message, out.Next = "The connector is not installed here.", "Install it, or choose another one."
	}
	return out
}
