package googleapi

import (
	"net/http"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

const wordsScope = "Google was not asked for this part when you signed in, or you left its box empty. Sign in at Google again and tick it."

// Reasons that Google gives, in the older form of its errors and in the newer one.
var (
	limits   = []string{"rateLimitExceeded", "userRateLimitExceeded", "quotaExceeded", "dailyLimitExceeded", "RATE_LIMIT_EXCEEDED"}
	disabled = []string{"accessNotConfigured", "SERVICE_DISABLED"}
	unasked  = []string{"insufficientPermissions", "ACCESS_TOKEN_SCOPE_INSUFFICIENT"}
	outdated = []string{"fullSyncRequired", "EXPIRED_SYNC_TOKEN"}
)

// Classify says what an answer of the API of that name means.
func Classify(api string) func(*governhttp.Response) error {
	off := "The " + api + " is not switched on in your project at Google. Open console.cloud.google.com, choose the project, then APIs & Services, Library, " +
		api + ", and press Enable. Wait some minutes, then run again."
	return func(r *governhttp.Response) error {
		if r.Status == http.StatusOK {
			return connectorkit.WholeJSON(r)
		}
		said := reasons(r.Body)
		has := func(any []string) bool {
			return slices.ContainsFunc(said, func(reason string) bool { return slices.Contains(any, reason) })
		}
		e := &connectorkit.Error{Status: r.Status, RetryAfter: r.RetryAfter, HasRetryAfter: r.HasRetryAfter}
		switch {
		case has(outdated), r.Status == http.StatusGone:
			e.Class = connectorkit.CursorRejected
		case r.Status == http.StatusForbidden && has(limits):
			e.Class = connectorkit.RateLimited
		case r.Status == http.StatusForbidden && has(disabled):
			e.Class, e.OwnerMessage = connectorkit.Forbidden, off
		case r.Status == http.StatusForbidden && has(unasked):
			e.Class, e.OwnerMessage = connectorkit.Forbidden, wordsScope
		default:
			return connectorkit.ByStatus(r)
		}
		return e
	}
}

// reasons are the words for machines in an error.
func reasons(body []byte) (out []string) {
	var wire struct {
		Error struct {
			Errors []struct {
				Reason string `json:"reason"`
			} `json:"errors"`
			Details []struct {
				Reason string `json:"reason"`
			} `json:"details"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &wire) != nil {
		return nil
	}
	for _, e := range wire.Error.Errors {
		out = append(out, e.Reason)
	}
	for _, d := range wire.Error.Details {
		out = append(out, d.Reason)
	}
	return out
}
