package googleapi

import (
	"net/http"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
)

const missingScopeMessage = "Google was not asked for this part when you signed in, or you left its box empty. Sign " +
	"in at Google again and tick it."

// ErrorRules returns the rules that classify refusals of the named API. Google's errors have an older and a newer form.
func ErrorRules(api string) []rest.ErrorRule {
	off := "The " + api + " is not switched on in your project at Google. Open console.cloud.google.com, choose the " +
		"project, then APIs & Services, Library, " + api + ", and press Enable. Wait some minutes, then run again."
	rules := []rest.ErrorRule{
		{Values: []string{"fullSyncRequired", "EXPIRED_SYNC_TOKEN"}, Class: connectorkit.CursorRejected},
		{Status: http.StatusForbidden, Class: connectorkit.RateLimited, Values: []string{"rateLimitExceeded",
			"userRateLimitExceeded", "quotaExceeded", "dailyLimitExceeded", "RATE_LIMIT_EXCEEDED"}},
		{Status: http.StatusForbidden, Class: connectorkit.Forbidden, Message: off,
			Values: []string{"accessNotConfigured", "SERVICE_DISABLED"}},
		{Status: http.StatusForbidden, Class: connectorkit.Forbidden, Message: missingScopeMessage,
			Values: []string{"insufficientPermissions", "ACCESS_TOKEN_SCOPE_INSUFFICIENT"}},
	}
	var out []rest.ErrorRule
	for _, rule := range rules {
		for _, member := range []string{"error.errors.*.reason", "error.details.*.reason"} {
			rule.Member = member
			out = append(out, rule)
		}
	}
	return append(out, rest.ErrorRule{Status: http.StatusGone, Class: connectorkit.CursorRejected})
}
