package oura

import (
	"net/http"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// What the owner is told.
const (
	wordsForbidden = "Oura does not give this part: the permission was not ticked when you signed in, or the membership has ended. Sign in at Oura again, or look at your membership there."
	wordsOutdated  = "Oura wants a newer app on your phone. Update the Oura app, open it once, and run this again."
)

// classify handles what Oura does in its own way and leaves the rest to the meaning of the status.
func classify(r *governhttp.Response) error {
	switch r.Status {
	case http.StatusOK:
		return connectorkit.WholeJSON(r)
	case http.StatusForbidden:
		return &connectorkit.Error{Class: connectorkit.Forbidden, Status: r.Status, OwnerMessage: wordsForbidden}
	case http.StatusUpgradeRequired:
		return &connectorkit.Error{Class: connectorkit.Forbidden, Status: r.Status, OwnerMessage: wordsOutdated}
	}
	return connectorkit.ByStatus(r)
}
