package api

import (
	"net/http"

	"github.com/pdpp-go/pdpp/internal/web/reply"
)

// webhookOperations are about what this server sends when records change.
var webhookOperations = []Operation{
	{Call: Owner.Webhooks, Route: "GET /_ref/webhooks", Scope: reply.ScopeRead, Name: "listWebhooks", Tag: "grants",
		Summary: "Where changes of records are delivered"},
	{Call: Owner.AddWebhook, Route: "POST /_ref/webhooks", Scope: reply.ScopeManage, Name: "addWebhook", Tag: "grants",
		Summary: "Deliver changes of records to an address", Status: http.StatusCreated, Results: "webhook secret",
		Schema: "AddedWebhook", Audit: "setting_change", Setting: "webhook",
		Notes: "The secret is shown only in this answer. Codes: webhook_invalid."},
	{Call: Owner.PauseWebhook, Route: "POST /_ref/webhooks/{id}/pause", Scope: reply.ScopeManage, Name: "pauseWebhook",
		Tag: "grants", Summary: "Stop deliveries", Audit: "setting_change", Setting: "webhook"},
	{Call: Owner.ResumeWebhook, Route: "POST /_ref/webhooks/{id}/resume", Scope: reply.ScopeManage, Name: "resumeWebhook",
		Tag: "grants", Summary: "Deliver again, with what changed meanwhile", Audit: "setting_change", Setting: "webhook"},
	{Call: Owner.RemoveWebhook, Route: "DELETE /_ref/webhooks/{id}", Scope: reply.ScopeManage, Name: "removeWebhook",
		Tag: "grants", Summary: "Remove a webhook", Audit: "setting_change", Setting: "webhook"},
	{Call: Owner.RotateWebhook, Route: "POST /_ref/webhooks/{id}/secret", Scope: reply.ScopeManage, Name: "rotateWebhook",
		Tag: "grants", Summary: "Replace the secret of a webhook", Results: "webhook secret", Schema: "AddedWebhook",
		Audit: "setting_change", Setting: "webhook",
		Notes: "The secret is shown only in this answer. Deliveries are signed with the old one too, for a day."},
	{Call: Owner.ReplayWebhook, Route: "POST /_ref/webhooks/{id}/replay", Scope: reply.ScopeManage, Name: "replayWebhook",
		Tag: "grants", Summary: "Deliver a stream again, from a place", Audit: "setting_change", Setting: "webhook"},
	{Call: Owner.TestWebhook, Route: "POST /_ref/webhooks/{id}/test", Scope: reply.ScopeManage, Name: "testWebhook",
		Tag: "grants", Summary: "Send a message without records"},
	{Call: Owner.Triggers, Route: "GET /_ref/triggers", Scope: reply.ScopeRead, Name: "listTriggers", Tag: "connections",
		Summary: "The addresses that start a run"},
	{Call: Owner.AddTrigger, Route: "POST /_ref/triggers", Scope: reply.ScopeManage, Name: "addTrigger",
		Tag: "connections", Summary: "Make an address that starts a run", Status: http.StatusCreated,
		Results: "trigger secret", Schema: "AddedTrigger", Audit: "setting_change", Setting: "trigger",
		Notes: "The secret is shown only in this answer."},
	{Call: Owner.RemoveTrigger, Route: "DELETE /_ref/triggers/{id}", Scope: reply.ScopeManage, Name: "removeTrigger",
		Tag: "connections", Summary: "Remove an address that starts a run", Audit: "setting_change", Setting: "trigger"},
}
