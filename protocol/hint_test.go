package protocol

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Both spellings of a hint, in both places that carry one.
func TestRecoveryHintForms(t *testing.T) {
	for form, want := range map[string]*RecoveryHint{
		`"retry_by_runtime"`:                              {Action: RetryByRuntime},
		`"retry\u005fby_runtime"`:                         {Action: RetryByRuntime},
		`{"action":"update_selector"}`:                    {Action: UpdateSelector},
		`{"retryable":true,"action":"unknown"}`:           {Action: UnknownRecovery, Retryable: new(true)},
		`{"action":"not_retriable","retryable":false}`:    {Action: NotRetriable, Retryable: new(false)},
		`{"action":"upstream_unblock","retryable": null}`: {Action: UpstreamUnblock},
		`null`: nil,
	} {
		skip := decoded[*SkipResult](t, FromConnector, edited(t, TypeSkipResult, `{"recovery_hint":`+form+`}`))
		done := decoded[*Done](t, FromConnector, edited(t, TypeDone, `{"error":{"recovery_hint":`+form+`}}`))
		for _, got := range []*RecoveryHint{skip.RecoveryHint, done.Error.RecoveryHint} {
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", form, diff)
			}
		}
	}
}

func TestRecoveryHintRefused(t *testing.T) {
	const actions = "recovery_hint.action: " +
		"retry_by_runtime|retry_on_connector_upgrade|refresh_credentials|manual_action_required|" +
		"update_selector|upstream_unblock|not_retriable|unknown"
	for form, want := range map[string]string{
		`""`: actions, `"retry"`: actions, `{}`: actions, `{"retryable":true}`: actions, `{"action":"Unknown"}`: actions,
		`7`: string(errRecoveryHint), `true`: string(errRecoveryHint), `["unknown"]`: string(errRecoveryHint),
		`{"action":7}`: string(errRecoveryHint), `{"action":"unknown","retryable":"no"}`: string(errRecoveryHint),
		`{"action":"unknown","because":"x"}`: string(errRecoveryHint),
	} {
		for name, patch := range map[MessageType]string{
			TypeSkipResult: `{"recovery_hint":` + form + `}`, TypeDone: `{"error":{"recovery_hint":` + form + `}}`,
		} {
			violation := Violation{Subtype: InvalidField, MessageType: name, Expected: []string{want}}
			if name == TypeSkipResult {
				violation.Stream = "notes"
			}
			refused(t, FromConnector, edited(t, name, patch), violation)
		}
	}
}
