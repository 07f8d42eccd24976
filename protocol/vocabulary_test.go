package protocol

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// words is a closed list as plain strings.
func words[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, w := range list {
		out[i] = string(w)
	}
	return out
}

// Each closed vocabulary, whole and without repetition. Its order is part of it:
// owners and authors read these lists in error texts.
func TestVocabularies(t *testing.T) {
	for name, c := range map[string]struct {
		got  []string
		want string
	}{
		"connector types": {words(ConnectorTypes),
			"RECORD STATE PROGRESS INTERACTION SKIP_RESULT DETAIL_GAP DETAIL_COVERAGE DETAIL_GAPS_PAGE_REQUEST " +
				"DETAIL_GAP_ATTEMPTED DETAIL_GAP_RECOVERED ASSISTANCE ASSISTANCE_STATUS CREDENTIAL_REQUEST ALLOWANCE WALK DONE"},
		"runner types": {words(RunnerTypes),
			"START INTERACTION_RESPONSE DETAIL_GAPS_PAGE_RESPONSE CREDENTIAL_RESPONSE ALLOWANCE_SHARE WALK_MISSING"},
		"collection modes":    {words(CollectionModes), "full_refresh incremental"},
		"cursor modes":        {words(CursorModes), " catch_up"},
		"done statuses":       {words(DoneStatuses), "succeeded failed cancelled"},
		"interaction kinds":   {words(InteractionKinds), "credentials otp manual_action missing_credentials"},
		"response statuses":   {words(ResponseStatuses), "success cancelled timeout"},
		"progress postures":   {words(ProgressPostures), "running blocked waiting_retry"},
		"owner actions":       {words(OwnerActions), "none act_elsewhere provide_value operate_attachment"},
		"sensitivities":       {words(Sensitivities), "none non_secret secret"},
		"attachment kinds":    {words(AttachmentKinds), "browser_surface url qr file fixture"},
		"assistance outcomes": {words(AssistanceOutcomes), "resolved cancelled timed_out escalated"},
		"credential reasons":  {words(CredentialReasons), "rotated expired"},
		"credential outcomes": {words(CredentialOutcomes), "stored not_stored renewed not_renewed"},
		"circuit states":      {words(CircuitStates), "closed half_open open"},
		"circuit reasons":     {words(CircuitReasons), "provider_failure provider_throttle reset_timeout success"},
		"circuit triggers":    {words(CircuitTriggers), "before_request provider_failure provider_throttle success"},
		"backoff reasons":     {words(RateBackoffReasons), "retry_after throttle"},
		"wait reasons":        {words(WaitReasons), "retry_after searched"},
		"difference kinds":    {words(DifferenceKinds), "new_member absent_member other_type other_total small_page"},
		"gap statuses":        {words(GapStatuses), "pending in_progress recovered terminal"},
		"known gap kinds": {words(KnownGapKinds),
			"skip_result detail_gap detail_coverage interaction_required run_failed checkpoint_commit"},
		"severities": {words(KnownGapSeverities), "actionable informational recoverable transient"},
		"recovery actions": {words(RecoveryActions),
			"retry_by_runtime retry_on_connector_upgrade refresh_credentials manual_action_required " +
				"update_selector upstream_unblock not_retriable unknown"},
	} {
		if got := strings.Join(c.got, " "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if sorted := slices.Sorted(slices.Values(c.got)); len(slices.Compact(sorted)) != len(c.got) {
			t.Errorf("%s: a word twice in %q", name, c.got)
		}
	}
}

// A slot is a place in a message that takes the words of one closed list. The
// patch of the type's smallest line has %s where the word goes.
type slot struct {
	name     MessageType
	patch    string
	member   string
	list     []string
	optional bool
}

var slots = []slot{
	{TypeStart, `{"collection_mode":%s}`, "collection_mode", words(CollectionModes), false},
	{TypeState, `{"mode":%s}`, "mode", words(CursorModes), true},
	{TypeDone, `{"status":%s}`, "status", words(DoneStatuses), false},
	{TypeInteraction, `{"kind":%s}`, "kind", words(InteractionKinds), false},
	{TypeInteractionResponse, `{"status":%s}`, "status", words(ResponseStatuses), false},
	{TypeAssistance, `{"progress_posture":%s}`, "progress_posture", words(ProgressPostures), false},
	{TypeAssistance, `{"owner_action":%s}`, "owner_action", words(OwnerActions), false},
	{TypeAssistance, `{"sensitivity":%s}`, "sensitivity", words(Sensitivities), true},
	{TypeAssistance, `{"attachments":[{"kind":"url"},{"kind":%s}]}`, "attachments.kind", words(AttachmentKinds), false},
	{TypeAssistanceStatus, `{"status":%s}`, "status", words(AssistanceOutcomes), false},
	{TypeProgress, budgetWith("previous_state"), "circuit.previous_state", words(CircuitStates), false},
	{TypeProgress, budgetWith("state"), "circuit.state", words(CircuitStates), false},
	{TypeProgress, budgetWith("reason"), "circuit.reason", words(CircuitReasons), false},
	{TypeProgress, budgetWith("trigger"), "circuit.trigger", words(CircuitTriggers), false},
	{
		TypeProgress,
		`{"provider_wait":{"sender":"api","wait_ms":1,"reason":%s}}`,
		"provider_wait.reason",
		words(WaitReasons),
		false,
	},
	{TypeProgress, `{"stream":"notes","answer_drift":{"differences":[{"kind":%s,"count":1}]}}`,
		"answer_drift.differences.kind", words(DifferenceKinds), false},
	{TypeProgress, `{"collection_rate":{` + goodRate + `,"last_backoff":{"at_interval_ms":1,"reason":%s}}}`,
		"last_backoff.reason", words(RateBackoffReasons), false},
	{TypeSkipResult, `{"recovery_hint":%s}`, "recovery_hint.action", words(RecoveryActions), false},
	{TypeDone, `{"error":{"recovery_hint":{"action":%s}}}`, "recovery_hint.action", words(RecoveryActions), false},
}

func budgetWith(member string) string {
	old := map[string]string{"previous_state": "closed", "state": "open", "reason": "success",
		"trigger": "success"}[member]
	return `{"provider_budget":` + changed(goodBudget, `"`+member+`":"`+old+`"`, `"`+member+`":%s`) + `}`
}

// Every list accepts its members and nothing else: not another list's words,
// not its own in another spelling, not nothing.
func TestVocabulariesAreClosed(t *testing.T) {
	var all []string
	for _, s := range slots {
		all = append(all, s.list...)
		for _, w := range s.list {
			all = append(all, strings.ToUpper(w), w+" ", w+"s", "_"+w)
		}
	}
	slices.Sort(all)
	for _, s := range slots {
		for _, word := range append(slices.Compact(all), "") {
			line := edited(t, s.name, fmt.Sprintf(s.patch, `"`+word+`"`))
			_, err := NewDecoder(direction(s.name)).Decode(line)
			if member := slices.Contains(s.list, word) || word == "" && s.optional; member != (err == nil) {
				t.Errorf("%s of %s: %q gives %v", s.member, s.name, word, err)
			}
			if v, ok := AsViolation(err); ok {
				want := s.member + ": " + strings.TrimPrefix(strings.Join(s.list, "|"), "|")
				if v.Subtype != InvalidField || v.MessageType != s.name || len(v.Expected) != 1 || v.Expected[0] != want {
					t.Errorf("%s of %s: %q gives %+v", s.member, s.name, word, v)
				}
			}
		}
	}
}

// Only an action by hand has an answer that may be shown.
func TestSecretKinds(t *testing.T) {
	for _, kind := range InteractionKinds {
		if got, want := kind.Secret(), kind != "manual_action"; got != want {
			t.Errorf("%s is secret: %t, want %t", kind, got, want)
		}
	}
}
