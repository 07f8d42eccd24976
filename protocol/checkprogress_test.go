package protocol

import (
	"strings"
	"testing"
)

const (
	goodRate = `"object":"collection_rate","current_interval_ms":1,"ceiling_interval_ms":1,` +
		`"effective_rate_per_min":1,"ceiling_rate_per_min":1`
	goodBudget = `"object":"provider_budget_circuit_transition","circuit":{"previous_state":"closed","state":"open",` +
		`"reason":"success","trigger":"success"},"elapsed_ms":1,"request_count":1`
	goodWait = `"sender":"api","wait_ms":1,"reason":"searched"`
)

// changed replaces one member's spelling in a good object.
func changed(object, old, new string) string {
	if !strings.Contains(object, old) {
		panic(old + " is not in " + object)
	}
	return "{" + strings.Replace(object, old, new, 1) + "}"
}

func TestRulesOfProgress(t *testing.T) {
	rate := func(old, new string) string { return `{"collection_rate":` + changed(goodRate, old, new) + `}` }
	budget := func(old, new string) string { return `{"provider_budget":` + changed(goodBudget, old, new) + `}` }
	wait := func(old, new string) string { return `{"provider_wait":` + changed(goodWait, old, new) + `}` }
	attachments := func(recovery, hydration string) string {
		return `{"attachment_recovery_outcome":` + recovery + `,"attachment_hydration_failure_outcome":` + hydration + `}`
	}
	const counts, both = "attachment outcomes: objects of counts", "both attachment outcomes or neither"
	checkBreaches(t, []breach{
		{TypeProgress, `{"message":""}`, "message: a non-empty string"},
		{TypeProgress, `{"count":-1}`, "count: a number >= 0"},
		{TypeProgress, `{"total":-0.5}`, "total: a number >= 0"},
		{TypeProgress, rate(`"collection_rate"`, `"rate"`), `collection_rate.object: "collection_rate"`},
		{TypeProgress, rate(`"current_interval_ms":1`, `"current_interval_ms":-1`), "collection_rate: numbers >= 0"},
		{TypeProgress, rate(`"ceiling_interval_ms":1`, `"ceiling_interval_ms":-1`), "collection_rate: numbers >= 0"},
		{TypeProgress, rate(`"effective_rate_per_min":1`, `"effective_rate_per_min":-1`), "collection_rate: numbers >= 0"},
		{TypeProgress, rate(`"ceiling_rate_per_min":1`, `"ceiling_rate_per_min":-1`), "collection_rate: numbers >= 0"},
		{
			TypeProgress,
			rate(`"object"`, `"last_backoff":{"at_interval_ms":-1,"reason":"throttle"},"object"`),
			"last_backoff.at_interval_ms: a number >= 0",
		},
		{
			TypeProgress,
			budget(`"provider_budget_circuit_transition"`, `"provider_budget"`),
			`provider_budget.object: "provider_budget_circuit_transition"`,
		},
		{TypeProgress, budget(`"elapsed_ms":1`, `"elapsed_ms":-1`), "provider_budget: numbers >= 0"},
		{TypeProgress, budget(`"request_count":1`, `"request_count":-1`), "provider_budget: numbers >= 0"},
		{
			TypeProgress,
			budget(`"object"`, `"retry_tokens_remaining":-1,"object"`),
			`retry_tokens_remaining: a number >= 0 or "unbounded"`,
		},
		{
			TypeProgress,
			budget(`"object"`, `"retry_tokens_remaining":"many","object"`),
			`retry_tokens_remaining: a number >= 0 or "unbounded"`,
		},
		{TypeProgress, wait(`"api"`, `" "`), "provider_wait.sender: a non-blank string of at most 200 bytes"},
		{
			TypeProgress,
			wait(`"api"`, `"`+strings.Repeat("x", 201)+`"`),
			"provider_wait.sender: a non-blank string of at most 200 bytes",
		},
		{TypeProgress, wait(`"wait_ms":1`, `"wait_ms":0`), "provider_wait.wait_ms: a number > 0"},
		{TypeProgress, wait(`"wait_ms":1`, `"wait_ms":-1`), "provider_wait.wait_ms: a number > 0"},
		{TypeProgress, `{"attachment_recovery_outcome":{"hydration_failed":0}}`, both},
		{TypeProgress, `{"attachment_hydration_failure_outcome":{"download":0}}`, both},
		{TypeProgress, attachments(`[]`, `{}`), counts},
		{TypeProgress, attachments(`{"recovered":-1}`, `{}`), counts},
		{TypeProgress, attachments(`{"recovered":1.5}`, `{}`), counts},
		{TypeProgress, attachments(`{}`, `{"download":"one"}`), counts},
		{TypeProgress, attachments(`{"object":"another"}`, `{}`), counts},
		{TypeProgress, attachments(`{}`, `{"object":7}`), counts},
		{
			TypeProgress,
			attachments(`{"hydration_failed":3}`, `{"download":1,"upload":1}`),
			"attachment failure stages: as many as hydration_failed",
		},
	})
	for _, patch := range []string{
		`{"count":0,"total":0}`, rate(`"object"`, `"last_backoff":null,"object"`), attachments(`null`, `null`),
		attachments(`{"hydration_failed":3}`, `{"download":1,"upload":2}`),
		budget(`"object"`, `"retry_tokens_remaining":0.5,"object"`),
		budget(`"object"`, `"retry_tokens_remaining":null,"object"`), `{"stream":null,"count":null,"collection_rate":null}`,
	} {
		if p := decoded[*Progress](t, FromConnector, edited(t, TypeProgress, patch)); p.AttachmentRecovery.Kind() == 'n' {
			t.Errorf("%s keeps a null", patch)
		}
	}
}
