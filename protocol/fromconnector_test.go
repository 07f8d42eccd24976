package protocol

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/go-json-experiment/json/jsontext"
)

// golden is a line with every member of its type, as the encoder writes it, and the message that it represents.
type golden struct {
	line string
	msg  Message
}

func raw(s string) jsontext.Value { return jsontext.Value(s) }

var connectorGoldens = []golden{
	{
		`{"type":"RECORD","stream":"notes","key":"n1","data":{"id":"n1","n":12345678901234567890},` +
			`"emitted_at":"2026-01-02T03:04:05Z"}`,
		&Record{
			Stream:    "notes",
			Key:       "n1",
			Data:      raw(`{"id":"n1","n":12345678901234567890}`),
			EmittedAt: "2026-01-02T03:04:05Z",
		},
	},
	{`{"type":"RECORD","stream":"notes","key":"n1","op":"delete"}`, &Record{Stream: "notes", Key: "n1", Op: OpDelete}},
	{
		`{"type":"STATE","stream":"notes","cursor":{"after":"n1"},"mode":"catch_up","accounted":{"required_keys":["a","b",` +
			`"c"],` +
			`"hydrated_keys":["a"],"gap_keys":["b"],"optional_skip_keys":["c"]}}`,
		&State{Stream: "notes", Cursor: raw(`{"after":"n1"}`), Mode: CatchUp, Accounted: &KeyCoverage{
			RequiredKeys: KeyList{
				"a",
				"b",
				"c",
			},
			HydratedKeys:     KeyList{"a"},
			GapKeys:          KeyList{"b"},
			OptionalSkipKeys: KeyList{"c"},
		}},
	},
	{
		`{"type":"PROGRESS","message":"two of three","stream":"notes","count":2,"total":3,` +
			`"provider_budget":{"object":"provider_budget_circuit_transition","circuit":{"previous_state":"closed",` +
			`"state":"open",` +
			`"reason":"provider_throttle","trigger":"before_request"},"elapsed_ms":1200,"request_count":40,` +
			`"retry_tokens_remaining":"unbounded"},` +
			`"collection_rate":{"object":"collection_rate","current_interval_ms":500,"ceiling_interval_ms":250,` +
			`"effective_rate_per_min":120,` +
			`"ceiling_rate_per_min":240,"last_backoff":{"at_interval_ms":1000,"reason":"throttle"}},` +
			`"provider_wait":{"sender":"api","wait_ms":3600000,"reason":"retry_after"},` +
			`"attachment_recovery_outcome":{"object":"attachment_recovery_outcome","recovered":4,"hydration_failed":3},` +
			`"attachment_hydration_failure_outcome":{"object":"attachment_hydration_failure_outcome","download":1,"upload":2}}`,
		&Progress{
			Message: "two of three", Stream: "notes", Count: new(2.0), Total: new(3.0),
			ProviderBudget: &ProviderBudget{
				Object: "provider_budget_circuit_transition", ElapsedMS: 1200, RequestCount: 40, RetryTokens: raw(`"unbounded"`),
				Circuit: CircuitChange{Previous: "closed", State: "open", Reason: "provider_throttle", Trigger: "before_request"},
			},
			CollectionRate: &CollectionRate{
				Object:              "collection_rate",
				CurrentIntervalMS:   500,
				CeilingIntervalMS:   250,
				EffectiveRatePerMin: 120,
				CeilingRatePerMin:   240,
				LastBackoff:         &RateBackoff{AtIntervalMS: 1000, Reason: "throttle"},
			},
			ProviderWait:        &ProviderWait{Sender: "api", WaitMS: 3_600_000, Reason: WaitRetryAfter},
			AttachmentRecovery:  raw(`{"object":"attachment_recovery_outcome","recovered":4,"hydration_failed":3}`),
			AttachmentHydration: raw(`{"object":"attachment_hydration_failure_outcome","download":1,"upload":2}`),
		},
	},
	{
		`{"type":"INTERACTION","request_id":"q1","kind":"missing_credentials","message":"Sign in",` +
			`"schema":{"type":"object"},` +
			`"stream":"notes","timeout_seconds":1.5}`,
		&Interaction{
			RequestID: "q1", Kind: AskMissingCredentials, Message: "Sign in", Schema: raw(`{"type":"object"}`),
			Stream: "notes", TimeoutSeconds: new(1.5),
		},
	},
	{
		`{"type":"SKIP_RESULT","stream":"notes","reason":"stream_collection_failed","message":"No access",` +
			`"diagnostics":[1,"x"],` +
			`"recovery_hint":{"action":"refresh_credentials","retryable":false},"resource_ids":["a"],"resources":["b"],` +
			`"time_range":{"since":"2026-01-01","until":"2026-02-01"},` +
			`"continuation":{"boundary":"page","slice_start":0,"slice_end":9,"considered":9,"covered":8,"remaining":true,` +
			`"owner":"runtime"}}`,
		&SkipResult{
			Stream:      "notes",
			Reason:      StreamCollectionFailed,
			Message:     new("No access"),
			Diagnostics: raw(`[1,"x"]`),
			RecoveryHint: &RecoveryHint{
				Action:    RefreshCredentials,
				Retryable: new(false),
			},
			ResourceIDs: []string{"a"},
			Resources:   []string{"b"},
			TimeRange:   &TimeRange{Since: "2026-01-01", Until: "2026-02-01"},
			Continuation: &Continuation{
				Boundary:   "page",
				SliceEnd:   9,
				Considered: 9,
				Covered:    8,
				Remaining:  true,
				Owner:      "runtime",
			},
		},
	},
	{
		`{"type":"DETAIL_GAP","stream":"bodies","parent_stream":"notes","record_key":"n1","reason":"retry_exhausted",` +
			`"retryable":true,` +
			`"detail_locator":{"id":"n1"},"list_cursor":{"after":"n0"},"last_error":{"class":"run_cap_deferred"},` +
			`"detail":{"class":"run_cap_deferred","http_status":503,"network_pressure":true},` +
			`"status":"pending","reference_only":true,"gap_id":"g1","lease_id":"l1"}`,
		&DetailGap{
			Stream: "bodies", ParentStream: "notes", RecordKey: "n1", Reason: ReasonRetryExhausted, Retryable: true,
			DetailLocator: raw(`{"id":"n1"}`), ListCursor: raw(`{"after":"n0"}`), LastError: raw(`{"class":"run_cap_deferred"}`),
			Detail: &GapDetail{Class: ClassRunCap, HTTPStatus: 503, NetworkPressure: true},
			Status: GapPending, ReferenceOnly: true, GapID: "g1", LeaseID: "l1",
		},
	},
	{
		`{"type":"DETAIL_COVERAGE","stream":"bodies","state_stream":"notes","required_keys":["a","b","c"],` +
			`"hydrated_keys":["a"],` +
			`"gap_keys":["b"],"optional_skip_keys":["c"],"considered":3,"covered":0,"reference_only":true}`,
		&DetailCoverage{
			Stream:        "bodies",
			StateStream:   "notes",
			Considered:    CountOf(3),
			Covered:       CountOf(0),
			ReferenceOnly: true,
			KeyCoverage: KeyCoverage{
				RequiredKeys:     KeyList{"a", "b", "c"},
				HydratedKeys:     KeyList{"a"},
				GapKeys:          KeyList{"b"},
				OptionalSkipKeys: KeyList{"c"},
			},
		},
	},
	{
		`{"type":"DETAIL_GAPS_PAGE_REQUEST","request_id":"q2","reference_only":true,"streams":["bodies"],"max_bytes":65536}`,
		&DetailGapsPageRequest{
			RequestID:     "q2",
			ReferenceOnly: true,
			Streams:       []string{"bodies"},
			MaxBytes:      new(int64(65536)),
		},
	},
	{
		`{"type":"DETAIL_GAP_ATTEMPTED","gap_id":"g1","lease_id":"l1","stream":"bodies","reference_only":true}`,
		&DetailGapAttempted{GapID: "g1", LeaseID: "l1", Stream: "bodies", ReferenceOnly: true},
	},
	{
		`{"type":"DETAIL_GAP_RECOVERED","gap_id":"g1","stream":"bodies","lease_id":"l1","record_key":"n1",` +
			`"reference_only":true}`,
		&DetailGapRecovered{GapID: "g1", Stream: "bodies", LeaseID: "l1", RecordKey: "n1", ReferenceOnly: true},
	},
	{
		`{"type":"ASSISTANCE","assistance_request_id":"h1","progress_posture":"blocked",` +
			`"owner_action":"operate_attachment","response_contract":"none",` +
			`"message":"Look at the page","sensitivity":"non_secret","timeout_seconds":60,"input_schema":{"type":"string"},` +
			`"attachments":[{"kind":"browser_surface","role":"companion","ref":{"id":7}},{"kind":"qr"}]}`,
		&Assistance{
			RequestID:      "h1",
			Posture:        "blocked",
			OwnerAction:    "operate_attachment",
			Response:       "none",
			Message:        "Look at the page",
			Sensitivity:    "non_secret",
			TimeoutSeconds: new(60.0),
			InputSchema:    raw(`{"type":"string"}`),
			Attachments: []Attachment{
				{Kind: "browser_surface", Extra: raw(`{"role":"companion","ref":{"id":7}}`)},
				{Kind: "qr"},
			},
		},
	},
	{
		`{"type":"ASSISTANCE_STATUS","assistance_request_id":"h1","status":"resolved"}`,
		&AssistanceStatus{RequestID: "h1", Status: "resolved"},
	},
	{
		`{"type":"CREDENTIAL_REQUEST","request_id":"q3","reason":"rotated","values":{"NOTES_TOKEN":"t2"}}`,
		&CredentialRequest{RequestID: "q3", Reason: CredentialRotated, Values: map[string]string{"NOTES_TOKEN": "t2"}},
	},
	{
		`{"type":"ALLOWANCE","request_id":"q4","sender":"api","provider":"notes","account":"ann"}`,
		&Allowance{RequestID: "q4", Sender: "api", Provider: "notes", Account: "ann"},
	},
	{
		`{"type":"ALLOWANCE","request_id":"q5","sender":"images","provider":"notes","address":true}`,
		&Allowance{RequestID: "q5", Sender: "images", Provider: "notes", Address: true},
	},
	{
		`{"type":"ALLOWANCE","sender":"api","news":{"at_ms":7,"limit":0.5},"learned":{"interval_ms":250}}`,
		&Allowance{Sender: "api", News: Numbers{"at_ms": 7, "limit": 0.5}, Learned: Numbers{"interval_ms": 250}},
	},
	{`{"type":"WALK","stream":"notes","phase":"begin"}`, &Walk{Stream: "notes", Phase: WalkBegin}},
	{`{"type":"WALK","stream":"notes","phase":"present","keys":["n1","n2"]}`,
		&Walk{Stream: "notes", Phase: WalkPresent, Keys: KeyList{"n1", "n2"}}},
	{`{"type":"WALK","stream":"notes","phase":"end","request_id":"q6","since":"2026-03-01"}`,
		&Walk{Stream: "notes", Phase: WalkEnd, RequestID: "q6", Since: "2026-03-01"}},
	{
		`{"type":"DONE","status":"failed","records_emitted":12,"error":{"code":"sign_in_failed",` +
			`"message":"Wrong password","retryable":true,` +
			`"recovery_hint":{"action":"refresh_credentials"}}}`,
		&Done{Status: DoneFailed, RecordsEmitted: 12, Error: &DoneError{
			Code:         "sign_in_failed",
			Message:      "Wrong password",
			Retryable:    new(true),
			RecoveryHint: &RecoveryHint{Action: RefreshCredentials},
		}},
	},
}

// The members' names on the wire and their places in the Go types, both ways.
func TestConnectorMessagesOnTheWire(t *testing.T) { checkGoldens(t, FromConnector, connectorGoldens) }

func checkGoldens(t *testing.T, dir Direction, goldens []golden) {
	t.Helper()
	seen := map[MessageType]bool{}
	for _, g := range goldens {
		seen[g.msg.Type()] = true
		got, err := NewDecoder(dir).Decode([]byte(g.line))
		if err != nil {
			t.Errorf("%s: %v", g.line, err)
			continue
		}
		if diff := cmp.Diff(g.msg, got, cmpopts.IgnoreUnexported(Record{})); diff != "" {
			t.Errorf("decode %s (-want +got):\n%s", g.msg.Type(), diff)
		}
		line, err := AppendLine(nil, g.msg)
		if diff := cmp.Diff(g.line+"\n", string(line)); diff != "" || err != nil {
			t.Errorf("encode %s: %v (-want +got):\n%s", g.msg.Type(), err, diff)
		}
	}
	for _, name := range typeNames(dir) {
		if !seen[MessageType(name)] {
			t.Errorf("no golden line for %s", name)
		}
	}
}
