package spotify

import (
	"net/http"
	"strings"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// What the owner is told where signing in again would not help, or helps alone.
const (
	wordsNotListed = "Your account is not among the users of your app at Spotify. Open the app on developer.spotify.com/dashboard, choose User Management and add it; or renew Premium, without which Spotify stops the app."
	wordsScope     = "Spotify was not asked for this part when you signed in. Sign in at Spotify again."
)

// classify handles what Spotify does in its own way and leaves the rest to the meaning of the status.
func classify(r *governhttp.Response) error {
	switch {
	case r.Status == http.StatusOK:
		return connectorkit.WholeJSON(r)
	case r.Status == http.StatusForbidden && !r.HasRetryAfter:
		return forbidden(r)
	}
	return connectorkit.ByStatus(r)
}

// forbidden tells a person who is not among the app's users, which Spotify says in plain text, from a
// missing scope and from a thing that nobody may see. None of them is an expired token.
func forbidden(r *governhttp.Response) error {
	e := &connectorkit.Error{Class: connectorkit.Forbidden, Status: r.Status}
	switch body := strings.ToLower(string(r.Body)); {
	case strings.Contains(body, "may not be registered"):
		e.OwnerMessage = wordsNotListed
	case strings.Contains(body, "insufficient client scope"):
		e.OwnerMessage = wordsScope
	}
	return e
}
