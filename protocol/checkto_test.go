package protocol

import "testing"

func TestRulesOfStart(t *testing.T) {
	streams := func(s string) string { return `{"scope":{"streams":[` + s + `]}}` }
	const (
		name   = "scope.streams.name: a stream of the manifest"
		window = "time_range: since or until, non-blank"
		state  = "state: an object or null per stream"
	)
	checkBreaches(t, []breach{
		{TypeStart, `{"run_id":" "}`, "run_id: a non-blank string, if present"},
		{TypeStart, `{"scope":{}}`, "scope.streams: at least one stream"},
		{TypeStart, streams(``), "scope.streams: at least one stream"},
		{TypeStart, streams(`{"name":" "}`), name},
		{TypeStart, streams(`{"name":"notes"},{"name":"*"}`), name},
		{TypeStart, streams(`{"name":"notes","time_range":{}}`), window},
		{TypeStart, streams(`{"name":"notes","time_range":{"since":" "}}`), window},
		{TypeStart, streams(`{"name":"notes","time_range":{"since":"2026-01-01","until":" "}}`), window},
		{TypeStart, `{"state":{"notes":5}}`, state},
		{TypeStart, `{"catch_up_state":{"notes":[]}}`, state},
		{TypeStart, `{"bindings":{"network":true}}`, "bindings: a descriptor object per binding"},
	})
	for _, patch := range []string{
		streams(`{"name":"notes","time_range":{"until":"2026-01-01"}}`),
		streams(`{"name":"notes","time_range":null,"resources":null,"fields":[]}`),
		`{"state":{"notes":null,"bodies":{}}}`, `{"state":"<absent>","detail_gaps":"<absent>"}`, `{"recovery_only":true}`,
	} {
		decoded[*Start](t, ToConnector, edited(t, TypeStart, patch))
	}
}

// A view or a necessity is resolved when a grant is issued; a run never sees one.
func TestStartRefusesUnresolvedScope(t *testing.T) {
	for _, member := range []string{`"view":"basic"`, `"necessity":"optional"`} {
		line := edited(t, TypeStart, `{"scope":{"streams":[{"name":"notes",`+member+`}]}}`)
		refused(t, ToConnector, line, Violation{
			Subtype: InvalidField, MessageType: TypeStart, Expected: []string{"a resolved stream scope: no view, no necessity"}})
	}
}

func TestRulesOfAnswers(t *testing.T) {
	entries := func(s string) string { return `{"detail_gaps":[` + s + `]}` }
	const ids = "detail_gaps: gap_id, lease_id and stream, non-blank"
	checkBreaches(t, []breach{
		{TypeInteractionResponse, `{"request_id":" "}`, "request_id: a non-blank string"},
		{TypeInteractionResponse, `{"data":[]}`, "data: an object"},
		{TypeInteractionResponse, `{"status":"timeout","data":{}}`, "data only on success"},
		{TypeDetailGapsPageResponse, `{"request_id":""}`, "request_id: a non-blank string"},
	})
	for _, name := range []MessageType{TypeStart, TypeDetailGapsPageResponse} {
		for entry, want := range map[string]string{
			`{"lease_id":"l1","stream":"s"}`:                                       ids,
			`{"gap_id":"g1","lease_id":" ","stream":"s"}`:                          ids,
			`{"gap_id":"g1","lease_id":"l1"}`:                                      ids,
			`{"gap_id":"g1","lease_id":"l1","stream":"s","status":"terminal"}`:     "detail_gaps.status: pending",
			`{"gap_id":"g1","lease_id":"l1","stream":"s","detail_locator":"here"}`: "detail_gaps.detail_locator: an object",
		} {
			refused(t, ToConnector, edited(t, name, entries(entry)),
				Violation{Subtype: InvalidField, MessageType: name, Expected: []string{want}})
		}
	}
	page := decoded[*DetailGapsPageResponse](t, ToConnector, edited(t, TypeDetailGapsPageResponse,
		entries(`{"gap_id":"g1","lease_id":"l1","stream":"s","record_key":9007199254740993,"detail_locator":null}`)))
	if e := page.DetailGaps[0]; e.RecordKey != "9007199254740993" || e.DetailLocator != nil {
		t.Errorf("%+v", e)
	}
	answer := decoded[*InteractionResponse](
		t,
		ToConnector,
		edited(t, TypeInteractionResponse, `{"status":"cancelled","data":null}`),
	)
	if answer.Data != nil {
		t.Error("a null answer is kept")
	}
}
