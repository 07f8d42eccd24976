package faults

import (
	"net/http"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// ProviderWait returns the error that explains how long a connection's source must not be queried, and why.
func ProviderWait(connectionID string, w *store.WaitError) error {
	until := w.Until.UTC()
	message := "The source asked for a pause until "
	if w.Reason == protocol.WaitSearched {
		message = "The source refused too many requests and pauses until "
	}
	return &api.Error{
		Status: http.StatusConflict, Code: api.CodeProviderWait, Until: &until, ConnectionID: connectionID, Err: w,
		Message: message + api.Moment(until) + ". Nothing was started.",
		Next:    "The run starts then. You can ask anyway, but the source may then lock you out for longer.",
	}
}
