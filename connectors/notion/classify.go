package notion

import (
	"errors"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"pdpp/connectorkit"
	"pdpp/governor/governhttp"
)

var (
	errEmpty     = errors.New("the answer is empty")
	errTruncated = errors.New("the answer ends early")
	errText      = errors.New("the answer is not JSON")
)

// wordsCapability is what the owner is told where signing in again does not help.
const wordsCapability = "This Notion token may not read content. Open notion.so/profile/integrations, choose the integration and tick Read content; then run again."

// classify handles what Notion does in its own way and leaves the rest to the meaning of the status.
func classify(r *governhttp.Response) error {
	switch r.Status {
	case http.StatusOK:
		return readable(r)
	case http.StatusConflict: // two things at once: it is worth a repetition
		return &connectorkit.Error{Class: connectorkit.Unavailable, Status: r.Status}
	case http.StatusForbidden:
		if !r.HasRetryAfter {
			return &connectorkit.Error{Class: connectorkit.Forbidden, Status: r.Status, Words: wordsCapability}
		}
	}
	return connectorkit.ByStatus(r)
}

// readable tells a good answer from one that only has the status of one.
func readable(r *governhttp.Response) error {
	body := strings.TrimSpace(string(r.Body))
	switch {
	case body == "":
		return connectorkit.Fail(connectorkit.Malformed, errEmpty)
	case !strings.HasPrefix(body, "{"):
		return connectorkit.Fail(connectorkit.Malformed, errText)
	case !jsontext.Value(r.Body).IsValid():
		return connectorkit.Fail(connectorkit.Unavailable, errTruncated) // worth a repetition
	}
	return nil
}
