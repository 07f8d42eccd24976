package protocol

import (
	"fmt"
	"strings"
	"testing"
)

const (
	goodSlice = `"boundary":"page","slice_start":2,"slice_end":4,"considered":2,"covered":2,"remaining":true,` +
		`"owner":"runtime"`
	sliceRule = "continuation: safe integers, slice_end >= slice_start, remaining true, owner runtime"
)

func TestRulesOfState(t *testing.T) {
	checkBreaches(t, []breach{
		{TypeState, `{"stream":" "}`, "stream: a non-blank string"},
		{TypeState, `{"cursor":[1]}`, "cursor: an object or null"},
		{TypeState, `{"cursor":"n1"}`, "cursor: an object or null"},
		{TypeState, `{"cursor":false}`, "cursor: an object or null"},
		{TypeState, `{"mode":"steady"}`, "mode: catch_up"},
	})
	for _, patch := range []string{`{"mode":""}`, `{"mode":null,"accounted":null}`, `{"cursor":{}}`} {
		decoded[*State](t, FromConnector, edited(t, TypeState, patch))
	}
}

func TestRulesOfInteractionAndSkipResult(t *testing.T) {
	slice := func(old, new string) string { return `{"continuation":` + changed(goodSlice, old, new) + `}` }
	const certified = "stream: named when reason is stream_collection_failed"
	checkBreaches(t, []breach{
		{TypeInteraction, `{"request_id":" "}`, "request_id: a non-blank string"},
		{TypeInteraction, `{"message":"\t"}`, "message: a non-blank string"},
		{TypeInteraction, `{"schema":[]}`, "schema: an object"},
		{TypeInteraction, `{"timeout_seconds":0}`, "timeout_seconds: a number > 0"},
		{TypeSkipResult, `{"message":" "}`, "message: non-blank when present"},
		{TypeSkipResult, `{"message":""}`, "message: non-blank when present"},
		{TypeSkipResult, `{"reason":" "}`, "reason: non-blank when present"},
		{TypeSkipResult, `{"reason":""}`, "reason: non-blank when present"},
		{TypeSkipResult, `{"stream":"<absent>","reason":"stream_collection_failed"}`, certified},
		{TypeSkipResult, slice(`"slice_start":2`, `"slice_start":-1`), sliceRule},
		{TypeSkipResult, slice(`"slice_start":2`, `"slice_start":5`), sliceRule},
		{TypeSkipResult, slice(`"covered":2`, `"covered":9007199254740992`), sliceRule},
		{TypeSkipResult, slice(`"considered":2`, `"considered":-2`), sliceRule},
		{TypeSkipResult, slice(`"remaining":true`, `"remaining":false`), sliceRule},
		{TypeSkipResult, slice(`"owner":"runtime"`, `"owner":"owner"`), sliceRule},
	})
	skip := decoded[*SkipResult](t, FromConnector, edited(t, TypeSkipResult,
		`{"message":null,"diagnostics":null,"recovery_hint":null,"continuation":{`+goodSlice+`}}`))
	if skip.Message != nil || skip.Diagnostics != nil || skip.RecoveryHint != nil || skip.Continuation.SliceEnd != 4 {
		t.Errorf("%+v", skip)
	}
	if ask := decoded[*Interaction](t, FromConnector, edited(t, TypeInteraction, `{"schema":null}`)); ask.Schema != nil {
		t.Error("a null schema is kept")
	}
}

func TestRulesOfDetailMessages(t *testing.T) {
	checkBreaches(t, []breach{
		{TypeDetailGap, `{"stream":" "}`, "stream: a non-blank string"},
		{TypeDetailGap, `{"reason":" "}`, "reason: a non-blank string"},
		{TypeDetailGap, `{"parent_stream":" "}`, "parent_stream: non-blank when present"},
		{TypeDetailGap, `{"record_key":"<absent>"}`, "record_key or detail_locator"},
		{TypeDetailGap, `{"record_key":null,"detail_locator":null}`, "record_key or detail_locator"},
		{TypeDetailGap, `{"detail_locator":"n1"}`, "detail_locator: an object"},
		{TypeDetailGap, `{"list_cursor":[]}`, "list_cursor: an object"},
		{TypeDetailGap, `{"last_error":5}`, "last_error: an object"},
		{TypeDetailGap, `{"status":"recovered"}`, "status: pending"},
		{TypeDetailGap, `{"gap_id":"g1"}`, "gap_id and lease_id together"},
		{TypeDetailGap, `{"lease_id":"l1"}`, "gap_id and lease_id together"},
		{TypeDetailCoverage, `{"stream":" "}`, "stream: a non-blank string"},
		{TypeDetailCoverage, `{"state_stream":""}`, "state_stream: a non-blank string"},
		{TypeDetailCoverage, `{"reference_only":false}`, "reference_only: true or absent"},
		{TypeDetailGapsPageRequest, `{"reference_only":false}`, "reference_only: true or absent"},
		{TypeDetailGapAttempted, `{"reference_only":false}`, "reference_only: true or absent"},
		{TypeDetailGapRecovered, `{"reference_only":false}`, "reference_only: true or absent"},
		{TypeDetailGapsPageRequest, `{"request_id":" "}`, "request_id: a non-blank string"},
		{TypeDetailGapsPageRequest, `{"max_bytes":0}`, "max_bytes: a number > 0"},
		{TypeDetailGapAttempted, `{"gap_id":" "}`, "gap_id: a non-blank string"},
		{TypeDetailGapAttempted, `{"lease_id":""}`, "lease_id: a non-blank string"},
		{TypeDetailGapAttempted, `{"stream":" "}`, "stream: a non-blank string"},
		{TypeDetailGapRecovered, `{"gap_id":""}`, "gap_id: a non-blank string"},
		{TypeDetailGapRecovered, `{"stream":" "}`, "stream: a non-blank string"},
	})
	gap := decoded[*DetailGap](t, FromConnector, edited(
		t,
		TypeDetailGap,
		`{"record_key":null,"detail_locator":{},"list_cursor":null,"last_error":null,"reason":"a_reason_of_its_own",`+
			`"reference_only":false}`,
	))
	if gap.RecordKey != "" || gap.ListCursor != nil || gap.LastError != nil || gap.Reason != "a_reason_of_its_own" {
		t.Errorf("%+v", gap)
	}
}

// Each key that was considered has at most one outcome, and no other key has one.
func TestRulesOfCoverage(t *testing.T) {
	const (
		once, known, one = "each required key once", "every outcome key to be in required_keys", "exactly one outcome per key"
		required         = `"required_keys":["a","b","7"],`
	)
	for members, want := range map[string]string{
		`"required_keys":["a","b","a"],"hydrated_keys":[]`:                           once,
		`"required_keys":[7,"7"],"hydrated_keys":[]`:                                 once,
		required + `"hydrated_keys":["x"]`:                                           known,
		required + `"hydrated_keys":[],"gap_keys":["x"]`:                             known,
		required + `"hydrated_keys":[],"optional_skip_keys":["x"]`:                   known,
		required + `"hydrated_keys":["a","a"]`:                                       one,
		required + `"hydrated_keys":["a"],"gap_keys":["a"]`:                          one,
		required + `"hydrated_keys":["a"],"optional_skip_keys":["a"]`:                one,
		required + `"hydrated_keys":[],"gap_keys":[7],"optional_skip_keys":["7"]`:    one,
		required + `"hydrated_keys":["a"],"gap_keys":["b"],"optional_skip_keys":[7]`: "",
		required + `"hydrated_keys":[],"gap_keys":null,"optional_skip_keys":null`:    "",
		`"required_keys":[],"hydrated_keys":[]`:                                      "",
	} {
		for name, patch := range map[MessageType]string{
			TypeDetailCoverage: `{` + members + `}`,
			TypeState:          fmt.Sprintf(`{"accounted":{%s}}`, members),
		} {
			line := edited(t, name, patch)
			if want != "" {
				refused(
					t,
					FromConnector,
					line,
					Violation{Subtype: InvalidCoverage, MessageType: name, Stream: "notes", Expected: []string{want}},
				)
			} else if _, err := NewDecoder(FromConnector).Decode(line); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestRulesOfAssistanceAndDone(t *testing.T) {
	checkBreaches(t, []breach{
		{TypeAssistance, `{"assistance_request_id":" "}`, "assistance_request_id: a non-blank string"},
		{TypeAssistance, `{"response_contract":"response_required"}`, "response_contract: none"},
		{TypeAssistance, `{"message":" "}`, "message: a non-blank string"},
		{TypeAssistance, `{"timeout_seconds":0}`, "timeout_seconds: a number > 0"},
		{TypeAssistance, `{"input_schema":[]}`, "input_schema: an object"},
		{TypeAssistanceStatus, `{"assistance_request_id":""}`, "assistance_request_id: a non-blank string"},
		{TypeDone, `{"records_emitted":-1}`, "records_emitted: an integer >= 0"},
		{TypeDone, `{"status":"succeeded","error":{}}`, "no error when succeeded"},
		{TypeDone, `{"error":{"code":"Bad"}}`, "error.code: ^[a-z][a-z0-9_]{0,63}$"},
		{TypeDone, `{"error":{"code":"bad\n"}}`, "error.code: ^[a-z][a-z0-9_]{0,63}$"},
		{TypeDone, `{"error":{"code":"a` + strings.Repeat("b", 64) + `"}}`, "error.code: ^[a-z][a-z0-9_]{0,63}$"},
		{TypeDone, `{"error":{"message":" "}}`, "error.message: non-blank"},
	})
	for _, patch := range []string{
		`{"status":"succeeded","error":null}`, `{"status":"cancelled","error":{}}`,
		`{"error":{"code":"a` + strings.Repeat("b", 63) + `","retryable":null,"recovery_hint":null}}`,
	} {
		decoded[*Done](t, FromConnector, edited(t, TypeDone, patch))
	}
}
