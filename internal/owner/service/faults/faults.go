// Package faults is how trouble reaches an owner: what other parts only name becomes a
// fault.
package faults

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/ops/fault"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/view"
)

// Error gives the fault that an error holds, as a sentence. What the store and the view
// only name becomes one here, where it is known whom it concerns; anything else keeps what
// was being done with it. Nil stays nil.
func Error(err error, doing string) error {
	var known *fault.Fault
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
		return &api.Error{Status: http.StatusServiceUnavailable, Code: string(unusable.Fault), Message: "The database cannot be used right now.", Next: unusable.NextStep(), Err: err}
	case errors.As(err, &active):
		return &api.Error{Status: http.StatusConflict, Code: api.CodeRunActive, RunID: active.RunID, Err: err,
			Message: "A run of this connection is under way.", Next: "Wait for it to end, or cancel it."}
	case errors.Is(err, view.ErrNotFound):
		return NoConnection(err)
	default:
		return fmt.Errorf("%s: %w", doing, err)
	}
}

// NoConnection says that there is no such connection.
func NoConnection(err error) *api.Error {
	e := api.NotFound("There is no such connection.", "Choose one of your connections.")
	e.Err = err
	return e
}

// NoRun says that there is no such run.
func NoRun(err error) *api.Error {
	e := api.NotFound("There is no such run.", "Choose one of the connection's runs.")
	e.Err = err
	return e
}

// Revoked says that the connection was ended.
func Revoked() *api.Error {
	return &api.Error{Status: http.StatusConflict, Code: api.CodeRevoked, Message: "This connection was ended.",
		Next: "Its records are kept. Connect the source again to collect on."}
}

// NotInstalled says that the connector of a connection or a form is not here. One that
// is broken is not either; its own error says why, to whoever looks after the server.
func NotInstalled(err error) *api.Error {
	out := &api.Error{Status: http.StatusConflict, Code: api.CodeNotInstalled, Err: err,
		Message: "The connector is installed, and cannot be used.", Next: "See pdpp doctor on the server's machine."}
	var unusable *catalog.UnusableError
	if errors.As(err, &unusable) {
		out.Message, out.Next = text.Cut(text.Line(text.Sentence(unusable.Error())), 1000), "Correct it in "+unusable.Dir+" on the server's machine."
	}
	if errors.Is(err, catalog.ErrUnknownConnector) {
		out.Message, out.Next = "The connector is not installed here.", "Install it, or choose another one."
	}
	return out
}
