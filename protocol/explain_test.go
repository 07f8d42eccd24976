package protocol

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/go-json-experiment/json"
)

// A value of the wrong type is named by its path and kinds, in JSON's words.
func TestWrongTypes(t *testing.T) {
	keys, key, hint := string(errKeyList.(wireError)), string(errKeyText.(wireError)), string(errRecoveryHint)
	for _, c := range []struct {
		name           MessageType
		patch          string
		want, received string
	}{
		{TypeDone, `{"records_emitted":"7"}`, "an integer", "/records_emitted: string"},
		{TypeDone, `{"records_emitted":1.5}`, "an integer", "/records_emitted: number"},
		{TypeDone, `{"records_emitted":9223372036854775808}`, "an integer", "/records_emitted: number"},
		{TypeDone, `{"status":true}`, "a string", "/status: boolean"},
		{TypeDone, `{"error":"boom"}`, "an object", "/error: string"},
		{TypeDone, `{"error":{"retryable":"yes"}}`, "a boolean", "/error/retryable: string"},
		{TypeDone, `{"error":{"stack":"at line 1"}}`, "no unknown member here", "/error/stack: an unknown member"},
		{TypeDone, `{"error":{"recovery_hint":[]}}`, hint, "/error/recovery_hint: an invalid value"},
		{TypeProgress, `{"message":7}`, "a string", "/message: number"},
		{TypeProgress, `{"count":"7"}`, "a number", "/count: string"},
		{TypeProgress, `{"count":1e999}`, "a number", "/count: number"},
		{TypeProgress, `{"collection_rate":[]}`, "an object", "/collection_rate: array"},
		{TypeSkipResult, `{"resources":{}}`, "an array", "/resources: object"},
		{TypeSkipResult, `{"resource_ids":["a",5]}`, "a string", "/resource_ids/1: number"},
		{TypeSkipResult, `{"recovery_hint":5}`, hint, "/recovery_hint: an invalid value"},
		{TypeSkipResult, `{"recovery_hint":{"action":"unknown","note":"x"}}`, hint, "/recovery_hint: an invalid value"},
		{TypeDetailGap, `{"record_key":["n1"]}`, key, "/record_key: an invalid value"},
		{TypeDetailGap, `{"record_key":""}`, key, "/record_key: an invalid value"},
		{TypeDetailGap, `{"retryable":"no"}`, "a boolean", "/retryable: string"},
		{TypeDetailGap, `{"detail":{"http_status":"503"}}`, "an integer", "/detail/http_status: string"},
		{TypeDetailCoverage, `{"required_keys":"a"}`, keys, "/required_keys: an invalid value"},
		{TypeDetailCoverage, `{"hydrated_keys":[null]}`, key, "/hydrated_keys: an invalid value"},
		{TypeDetailGapsPageRequest, `{"max_bytes":1.5}`, "an integer", "/max_bytes: number"},
		{TypeDetailGapsPageRequest, `{"reference_only":"true"}`, "a boolean", "/reference_only: string"},
		{TypeAssistance, `{"attachments":[7]}`, "an object", "/attachments/0: number"},
		{TypeStart, `{"scope":{"streams":[{"name":5}]}}`, "a string", "/scope/streams/0/name: number"},
		{TypeStart, `{"bindings":[]}`, "an object", "/bindings: array"},
	} {
		want := Violation{Subtype: InvalidField, MessageType: c.name, Expected: []string{c.want}}
		if strings.Contains(smallest[c.name], `"stream":`) {
			want.Stream = "notes"
		}
		if v := refused(t, direction(c.name), edited(t, c.name, c.patch), want); v.Received != c.received {
			t.Errorf("%s: received %q, want %q", c.patch, v.Received, c.received)
		}
	}
}

func TestMalformedSaysWhere(t *testing.T) {
	for line, received := range map[string]string{
		`{"type":"DONE",}`:     "a line of 16 bytes, broken at byte 14",
		`{"type":"DONE"`:       "a line of 14 bytes, broken at byte 14",
		`not json`:             "a line of 8 bytes, broken at byte 1",
		`{"type":"DONE"}{}`:    "more after it",
		`{"type":"DONE"} true`: "more after it",
	} {
		want := Violation{Subtype: MalformedJSON, Expected: []string{"one JSON object"}}
		if v := refused(t, FromConnector, []byte(line), want); v.Received != received {
			t.Errorf("%s: received %q, want %q", line, v.Received, received)
		}
	}
}

// marked begins every secret of the property below; no text of ours holds it.
const marked = "zqx"

// A violation never reveals the content of a record, an answer or a cursor.
func TestViolationsNeverEchoContent(t *testing.T) {
	content := rapid.Custom(func(t *rapid.T) string {
		secret := rapid.StringMatching(marked+`[a-z0-9 ]{0,12}`).Draw(t, "secret")
		form := rapid.SampledFrom([]string{
			`{"text":"%s"}`,
			`{"%s":1}`,
			`{"a":{"b":["%s"]}}`,
			`{"a":"x","a":"%s"}`,
			`"%s"`,
			`["%s"]`,
			`{"%s":1,"%[1]s":2}`,
			`{"a":"%s` + "\xff" + `"}`,
			`{"a":"\ud800%s"}`,
			`{"a":%s}`,
			`{"a":"%s`,
			`{"a":"%s"`,
			`{"a":"%s"}}`,
			`{"a":01,"b":"%s"}`,
		}).Draw(t, "form")
		body := fmt.Sprintf(form, secret)
		if deep := rapid.IntRange(0, 80).Draw(t, "deep"); deep > 40 {
			body = strings.Repeat(`{"`+secret+`":`, deep) + body + strings.Repeat(`}`, deep)
		}
		return body
	})
	refusals := 0
	rapid.Check(t, func(t *rapid.T) {
		line := fmt.Sprintf(rapid.SampledFrom([]string{
			`{"type":"RECORD","stream":"notes","key":"n1","data":%s,"emitted_at":"2026-01-02"}`,
			`{"type":"RECORD","key":"","data":%s,"emitted_at":"2026-01-02","stream":"notes"}`,
			`{"type":"RECORD","stream":"notes","key":%s,"op":%[1]s,"data":{},"emitted_at":%[1]s}`,
			`{"data":%s,"type":"RECORD","stream":5}`,
			`{"type":"STATE","stream":"notes","cursor":%s,"mode":%[1]s,"accounted":%[1]s}`,
			`{"type":"DONE","status":%s,"records_emitted":%[1]s}`,
			`{"type":"PROGRESS","message":%s,"attachment_recovery_outcome":%[1]s,"attachment_hydration_failure_outcome":{}}`,
			`{"type":"DETAIL_GAP","stream":"notes","reason":"gone","retryable":%s,"record_key":%[1]s,"detail_locator":%[1]s}`,
			`{"type":"DETAIL_COVERAGE","stream":"notes","state_stream":"list","required_keys":%s,"hydrated_keys":[%[1]s]}`,
			`{"type":"INTERACTION_RESPONSE","request_id":"q1","status":"later","data":%s}`,
			`{"type":"START","run_id":%s,"collection_mode":"x","scope":{},"bindings":{},"state":{"notes":%[1]s}}`,
			`{"data":%s}`, `%s`, `{"type":["%[1]s"]}`,
		}).Draw(t, "line"), content.Draw(t, "content"))
		line = line[:rapid.OneOf(rapid.Just(len(line)), rapid.IntRange(0, len(line))).Draw(t, "cut")]
		dec := NewDecoder(rapid.SampledFrom([]Direction{FromConnector, ToConnector}).Draw(t, "direction"))
		_, err := dec.Decode([]byte(line))
		if err == nil {
			return
		}
		refusals++
		v, _ := AsViolation(err)
		stored, failed := json.Marshal(v)
		if failed != nil {
			t.Fatal(failed)
		}
		if strings.Contains(err.Error(), marked) || strings.Contains(string(stored), marked) {
			t.Fatalf("%s\nis told as %s\nand stored as %s", line, err, stored)
		}
	})
	if refusals == 0 {
		t.Error("nothing was refused")
	}
}
