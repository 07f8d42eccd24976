package slack

import (
	"net/http"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// Messages for the owner.
const (
	wordsScope = "Your Slack app lacks a permission. Open it on api.slack.com/apps, choose OAuth & Permissions, " +
		"add the User Token Scopes that the connection lists, press Reinstall to Workspace and connect again with the token."
	botTokenMessage = "This is the token of a bot, which sees only the conversations that it was invited to. Connect " +
		"again with the User OAuth Token, which begins with xoxp-."
)

// errorClasses are what the errors of an answer with the status 200 mean; any other one is not known.
var errorClasses = map[connectorkit.Class][]string{
	connectorkit.Unauthorized: {"invalid_auth", "not_authed", "token_revoked", "token_expired", "account_inactive",
		"team_access_not_granted", "ekm_access_denied", "two_factor_setup_required"},
	connectorkit.Forbidden:      {"missing_scope", "access_denied", "not_allowed_token_type", "no_permission"},
	connectorkit.NotFound:       {"channel_not_found", "not_in_channel"},
	connectorkit.Gone:           {"thread_not_found", "message_not_found"},
	connectorkit.RateLimited:    {"ratelimited", "rate_limited"},
	connectorkit.Unavailable:    {"internal_error", "fatal_error", "request_timeout", "service_unavailable"},
	connectorkit.CursorRejected: {"invalid_cursor"},
}

// classifyResponse handles what Slack does in its own way: a refusal has the status 200.
func classifyResponse(r *governhttp.Response) error {
	if r.Status != http.StatusOK {
		return connectorkit.ByStatus(r)
	}
	if err := connectorkit.WholeJSON(r); err != nil {
		return err
	}
	var answer struct {
		OK    bool   `json:"ok"`
		Error string `json:"error"`
	}
	if json.Unmarshal(r.Body, &answer) == nil && answer.OK {
		return nil
	}
	e := &connectorkit.Error{Class: connectorkit.Malformed, RetryAfter: r.RetryAfter, HasRetryAfter: r.HasRetryAfter}
	for class, names := range errorClasses {
		if slices.Contains(names, answer.Error) {
			e.Class = class
		}
	}
	switch answer.Error {
	case "missing_scope":
		e.OwnerMessage = wordsScope
	case "not_allowed_token_type":
		e.OwnerMessage = botTokenMessage
	}
	return e
}
