package notion

import (
	"net/http"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// wordsCapability is the owner's message where signing in again does not help.
const wordsCapability = "This Notion token may not read content. Open notion.so/profile/integrations, choose the " +
	"integration and tick Read content; then run again."

// classifyResponse handles what Notion does in its own way and leaves the rest to the meaning of the status.
func classifyResponse(r *governhttp.Response) error {
	switch r.Status {
	case http.StatusOK:
		return connectorkit.WholeJSON(r)
	case http.StatusConflict: // two things at once: it is worth a repetition
		return &connectorkit.Error{Class: connectorkit.Unavailable, Status: r.Status}
	case http.StatusForbidden:
		if !r.HasRetryAfter {
			return &connectorkit.Error{Class: connectorkit.Forbidden, Status: r.Status, OwnerMessage: wordsCapability}
		}
	}
	return connectorkit.ByStatus(r)
}
