package oura

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

// What the owner is told.
const (
	wordsForbidden = "Oura does not give this part: the permission was not ticked when you signed in, or the membership has ended. Sign in at Oura again, or look at your membership there."
	wordsOutdated  = "Oura wants a newer app on your phone. Update the Oura app, open it once, and run this again."
)

// classify handles what Oura does in its own way and leaves the rest to the meaning of the status.
func classify(r *governhttp.Response) error {
	switch r.Status {
	case http.StatusOK:
		return readable(r)
	case http.StatusForbidden:
		return &connectorkit.Error{Class: connectorkit.Forbidden, Status: r.Status, Words: wordsForbidden}
	case http.StatusUpgradeRequired:
		return &connectorkit.Error{Class: connectorkit.Forbidden, Status: r.Status, Words: wordsOutdated}
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
