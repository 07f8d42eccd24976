// Package told is how trouble reaches an owner: errors of other parts become a code, a
// sentence and a next step.
package told

import (
	"errors"
	"fmt"
	"net/http"

	"pdpp/internal/ops/text"

	"pdpp/internal/collect/catalog"
	"pdpp/internal/collect/interaction"
	"pdpp/internal/keep/credential"
	"pdpp/internal/keep/store"
	"pdpp/internal/owner/api"
	"pdpp/internal/schedule/notify"
	"pdpp/internal/schedule/scheduler"
	"pdpp/internal/share/grants"
	"pdpp/internal/view"
	"pdpp/internal/web/auth"
)

// codeNoWorker says that nobody is there to make a run.
const codeNoWorker = "no_worker"

// Error turns an error of another part into one that an owner can act on, where it is
// one; anything else keeps what was being done with it. Nil stays nil.
func Error(err error, doing string) error {
	var own *api.Error
	var fault *store.FaultError
	var active *store.ActiveRunError
	var sealed *credential.Error
	var push *notify.Error
	var question *interaction.Error
	var refused *grants.Error
	var noEntry *auth.Refusal
	switch {
	case err == nil:
		return nil
	case errors.As(err, &own):
		return own
	case errors.As(err, &fault):
		return &api.Error{Status: http.StatusServiceUnavailable, Code: string(fault.Fault), Message: "The database cannot be used right now.", Next: fault.NextStep(), Err: err}
	case errors.As(err, &active):
		return &api.Error{Status: http.StatusConflict, Code: api.CodeRunActive, RunID: active.RunID, Err: err,
			Message: "A run of this connection is under way.", Next: "Wait for it to end, or cancel it."}
	case errors.As(err, &sealed):
		return &api.Error{Status: http.StatusBadRequest, Code: string(sealed.Code), Message: text.Sentence(sealed.Message), Next: sealed.NextStep(), Err: err}
	case errors.As(err, &push):
		return &api.Error{Status: http.StatusBadRequest, Code: push.Code, Message: text.Sentence(push.Message), Next: push.NextStep(), Err: err}
	case errors.As(err, &question):
		return answerError(question)
	case errors.As(err, &refused):
		return &api.Error{Status: refused.Status, Code: refused.Code, Message: refused.Message, Next: refused.Next, Param: refused.Param, Err: err}
	case errors.As(err, &noEntry):
		return &api.Error{Status: noEntry.Status, Code: noEntry.Code, Message: noEntry.Message, Next: noEntry.Next, Param: noEntry.Param, Err: err}
	case errors.Is(err, scheduler.ErrNoWorker):
		return &api.Error{Status: http.StatusServiceUnavailable, Code: codeNoWorker, Message: "No worker is there to make the run.",
			Next: "Start one with pdpp serve, then ask again.", Err: err}
	case errors.Is(err, view.ErrNotFound):
		return NoConnection(err)
	default:
		return fmt.Errorf("%s: %w", doing, err)
	}
}

func answerError(e *interaction.Error) *api.Error {
	out := &api.Error{Status: http.StatusConflict, Code: e.Code, Message: text.Sentence(e.Message), Next: e.NextStep(), Err: e}
	switch e.Code {
	case interaction.ErrNotPending.Code:
		out.Status = http.StatusNotFound
	case interaction.ErrInvalidStatus.Code:
		out.Status, out.Param = http.StatusBadRequest, "status"
	case interaction.ErrInvalidAnswer.Code:
		out.Status, out.Param = http.StatusBadRequest, "data"
		if len(e.Fields) > 0 {
			out.Param = e.Fields[0]
		}
	}
	return out
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
	if errors.Is(err, catalog.ErrUnknownConnector) {
		out.Message, out.Next = "The connector is not installed here.", "Install it, or choose another one."
	}
	return out
}
