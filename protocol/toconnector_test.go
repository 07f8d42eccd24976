package protocol

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

var runnerGoldens = []golden{
	{
		`{"type":"START","run_id":"run_1","collection_mode":"incremental","scope":{"streams":[{"name":"notes",` +
			`"resources":["n1"],` +
			`"time_range":{"since":"2026-01-01","until":"2026-02-01"},"fields":["id"]},{"name":"bodies"}]},` +
			`"state":{"bodies":null,"notes":{"after":"n1"}},"catch_up_state":{"notes":{"before":"n0"}},` +
			`"bindings":{"network":{}},` +
			`"detail_gaps":[{"gap_id":"g1","lease_id":"l1","stream":"bodies","parent_stream":"notes","record_key":"n1",` +
			`"detail_locator":{"id":"n1"},"status":"pending","reference_only":true}],"recovery_only":true}`,
		&Start{
			RunID: "run_1", CollectionMode: Incremental, RecoveryOnly: true,
			Scope: Scope{Streams: []StreamScope{
				{
					Name:      "notes",
					Resources: []string{"n1"},
					Fields:    []string{"id"},
					TimeRange: &TimeRange{Since: "2026-01-01", Until: "2026-02-01"},
				},
				{Name: "bodies"},
			}},
			State:        Cursors{"bodies": raw(`null`), "notes": raw(`{"after":"n1"}`)},
			CatchUpState: Cursors{"notes": raw(`{"before":"n0"}`)},
			Bindings:     map[string]jsontext.Value{"network": raw(`{}`)},
			DetailGaps:   []GapEntry{goldenGap},
		},
	},
	{
		`{"type":"START","run_id":"run_1","collection_mode":"full_refresh","scope":{"streams":[{"name":"notes"}]},` +
			`"state":null,"bindings":{},"detail_gaps":[]}`,
		&Start{
			RunID: "run_1", CollectionMode: FullRefresh, Scope: Scope{Streams: []StreamScope{{Name: "notes"}}},
			Bindings: map[string]jsontext.Value{}, DetailGaps: []GapEntry{},
		},
	},
	{
		`{"type":"INTERACTION_RESPONSE","request_id":"q1","status":"success","data":{"otp":"123456"}}`,
		&InteractionResponse{RequestID: "q1", Status: ResponseSuccess, Data: raw(`{"otp":"123456"}`)},
	},
	{
		`{"type":"DETAIL_GAPS_PAGE_RESPONSE","request_id":"q2","reference_only":true,"detail_gaps":[{"gap_id":"g1",` +
			`"lease_id":"l1",` +
			`"stream":"bodies","parent_stream":"notes","record_key":"n1","detail_locator":{"id":"n1"},"status":"pending",` +
			`"reference_only":true}]}`,
		&DetailGapsPageResponse{RequestID: "q2", ReferenceOnly: true, DetailGaps: []GapEntry{goldenGap}},
	},
	{
		`{"type":"ALLOWANCE_SHARE","request_id":"q4","sender":"api","runs":3,"place":0,"learned":{"interval_ms":250},` +
			`"news":[{"from":2,"runs":3,"place":1,"numbers":{"at_ms":7}}]}`,
		&AllowanceShare{RequestID: "q4", Sender: "api", Runs: 3, Learned: Numbers{"interval_ms": 250},
			News: []AllowanceNews{{From: 2, Runs: 3, Place: 1, Numbers: Numbers{"at_ms": 7}}}},
	},
	{`{"type":"WALK_MISSING","request_id":"q6","status":"compared","keys":["n3"],"more":true}`,
		&WalkMissing{RequestID: "q6", Status: WalkCompared, Keys: KeyList{"n3"}, More: true}},
	{`{"type":"CREDENTIAL_RESPONSE","request_id":"q4","status":"renewed","values":{"NOTES_TOKEN":"t3"}}`,
		&CredentialResponse{RequestID: "q4", Status: CredentialRenewed, Values: map[string]string{"NOTES_TOKEN": "t3"}}},
	{
		`{"type":"CREDENTIAL_RESPONSE","request_id":"q3","status":"not_stored"}`,
		&CredentialResponse{RequestID: "q3", Status: CredentialNotStored},
	},
}

var goldenGap = GapEntry{
	GapID: "g1", LeaseID: "l1", Stream: "bodies", ParentStream: "notes", RecordKey: "n1",
	DetailLocator: raw(`{"id":"n1"}`), Status: GapPending, ReferenceOnly: true,
}

func TestRunnerMessagesOnTheWire(t *testing.T) { checkGoldens(t, ToConnector, runnerGoldens) }

// Nothing persisted and no cursor yet are different starts.
func TestStartTellsNoStateFromEmptyState(t *testing.T) {
	for state, want := range map[string]bool{`null`: true, `{}`: false} {
		line := edited(t, TypeStart, `{"state":`+state+`}`)
		start := decoded[*Start](t, ToConnector, line)
		if (start.State == nil) != want {
			t.Errorf("state %s reads as nil: %t, want %t", state, start.State == nil, want)
		}
		again, err := AppendLine(nil, start)
		if err != nil || string(again) != string(line)+"\n" {
			t.Errorf("state %s is written as %s (%v)", state, again, err)
		}
	}
}
