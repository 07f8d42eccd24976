package faults

import (
	"net/http"

	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/protocol"
)

// Waits says until when a connection's source is left alone, and why.
func Waits(connectionID string, w *store.WaitError) error {
	until := w.Until.UTC()
	message := "The source asked to be left alone until "
	if w.Reason == protocol.WaitSearched {
		message = "The source has refused too much, and is left alone until "
	}
	return &api.Error{
		Status: http.StatusConflict, Code: api.CodeProviderWait, Until: &until, ConnectionID: connectionID, Err: w,
		Message: message + api.Moment(until) + ". Nothing was started.",
		Next:    "The run starts by itself then. You can ask anyway; a source that is asked too early may lock you out for longer.",
	}
}
