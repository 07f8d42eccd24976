package protocol

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// smallest holds a valid line per type with nothing optional in it. Types that
// can name a stream name "notes".
var smallest = map[MessageType]string{
	TypeRecord: `{"type":"RECORD","stream":"notes","key":"n1","data":{"id":"n1"},` +
		`"emitted_at":"2026-01-02"}`,
	TypeState:       `{"type":"STATE","stream":"notes","cursor":null}`,
	TypeProgress:    `{"type":"PROGRESS","message":"going","stream":"notes"}`,
	TypeInteraction: `{"type":"INTERACTION","request_id":"q1","kind":"otp","message":"Code?","stream":"notes"}`,
	TypeSkipResult:  `{"type":"SKIP_RESULT","stream":"notes"}`,
	TypeDetailGap: `{"type":"DETAIL_GAP","stream":"notes","reason":"gone","retryable":false,` +
		`"record_key":"n1"}`,
	TypeDetailCoverage: `{"type":"DETAIL_COVERAGE","stream":"notes","state_stream":"list","required_keys":["a",` +
		`"b","c"],"hydrated_keys":[]}`,
	TypeDetailGapsPageRequest: `{"type":"DETAIL_GAPS_PAGE_REQUEST","request_id":"q2"}`,
	TypeDetailGapAttempted:    `{"type":"DETAIL_GAP_ATTEMPTED","gap_id":"g1","lease_id":"l1","stream":"notes"}`,
	TypeDetailGapRecovered:    `{"type":"DETAIL_GAP_RECOVERED","gap_id":"g1","stream":"notes"}`,
	TypeAssistance: `{"type":"ASSISTANCE","assistance_request_id":"h1","progress_posture":"running",` +
		`"owner_action":"none","response_contract":"none","message":"Help"}`,
	TypeAssistanceStatus: `{"type":"ASSISTANCE_STATUS","assistance_request_id":"h1","status":"resolved"}`,
	TypeCredentialRequest: `{"type":"CREDENTIAL_REQUEST","request_id":"q3","reason":"rotated",` +
		`"values":{"NOTES_TOKEN":"t2"}}`,
	TypeAllowance: `{"type":"ALLOWANCE","request_id":"q4","sender":"api","provider":"notes","account":"ann"}`,
	TypeWalk:      `{"type":"WALK","stream":"notes","phase":"begin"}`,
	TypeDone:      `{"type":"DONE","status":"failed","records_emitted":0}`,
	TypeStart: `{"type":"START","run_id":"run_1","collection_mode":"incremental",` +
		`"scope":{"streams":[{"name":"notes"}]},"state":null,"bindings":{},"detail_gaps":[]}`,
	TypeInteractionResponse:    `{"type":"INTERACTION_RESPONSE","request_id":"q1","status":"success"}`,
	TypeDetailGapsPageResponse: `{"type":"DETAIL_GAPS_PAGE_RESPONSE","request_id":"q2","detail_gaps":[]}`,
	TypeCredentialResponse:     `{"type":"CREDENTIAL_RESPONSE","request_id":"q3","status":"stored"}`,
	TypeAllowanceShare:         `{"type":"ALLOWANCE_SHARE","sender":"api","runs":2,"place":1}`,
	TypeWalkMissing:            `{"type":"WALK_MISSING","request_id":"q5","status":"unproven","keys":[]}`,
}

func direction(name MessageType) Direction {
	if slices.Contains(RunnerTypes, name) {
		return ToConnector
	}
	return FromConnector
}

// edited is the type's smallest line with the members of patch set in place or
// appended, and without those that have the value "<absent>".
func edited(t *testing.T, name MessageType, patch string) []byte {
	t.Helper()
	split := func(line string) []Field {
		d := NewDecoder(FromConnector)
		if v := d.split([]byte(line)); v != nil {
			t.Fatalf("%s: %v", line, v)
		}
		return d.members
	}
	members := split(smallest[name])
	for _, change := range split(patch) {
		i := slices.IndexFunc(members, func(f Field) bool { return f.Name == change.Name })
		if i < 0 {
			members = append(members, change)
		} else if members[i] = change; string(change.Value) == `"<absent>"` {
			members = slices.Delete(members, i, i+1)
		}
	}
	var out []string
	for _, m := range members {
		out = append(out, `"`+m.Name+`":`+string(m.Value))
	}
	return []byte("{" + strings.Join(out, ",") + "}")
}

func decoded[M Message](t *testing.T, dir Direction, line []byte) M {
	t.Helper()
	m, err := NewDecoder(dir).Decode(line)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return m.(M)
}

// refused decodes a line that must break exactly the named rule.
func refused(t *testing.T, dir Direction, line []byte, want Violation) *Violation {
	t.Helper()
	_, err := NewDecoder(dir).Decode(line)
	v, ok := AsViolation(err)
	if !ok {
		t.Errorf("%.300s: accepted, want %s", line, want.Subtype)
		return &Violation{}
	}
	got := Violation{Subtype: v.Subtype, MessageType: v.MessageType, Stream: v.Stream, Expected: v.Expected}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%.300s (-want +got):\n%s", line, diff)
	}
	return v
}

// A breach is a change to a smallest line that breaks the rule that want describes.
type breach struct {
	name  MessageType
	patch string
	want  string
}

func checkBreaches(t *testing.T, breaches []breach) {
	t.Helper()
	for _, b := range breaches {
		want := Violation{Subtype: InvalidField, MessageType: b.name, Expected: []string{b.want}}
		if strings.Contains(smallest[b.name], `"stream":`) && !strings.Contains(b.patch, `"stream":`) {
			want.Stream = "notes"
		}
		if strings.Contains(b.patch, `"stream":" "`) {
			want.Stream = " "
		}
		refused(t, direction(b.name), edited(t, b.name, b.patch), want)
	}
}

func TestEveryTypeHasAMessage(t *testing.T) {
	all := slices.Concat(ConnectorTypes, RunnerTypes)
	for _, name := range all {
		m := newMessage(name)
		if m == nil || m.Type() != name {
			t.Errorf("newMessage(%s) is %T", name, m)
		}
		if _, err := NewDecoder(direction(name)).Decode([]byte(smallest[name])); err != nil {
			t.Error(err)
		}
	}
	for name := range smallest {
		if !slices.Contains(all, name) {
			t.Errorf("%s is in no direction's list", name)
		}
	}
	for _, name := range []MessageType{"", "record", "RECORDS", "RECORD ", "LOG"} {
		if m := newMessage(name); m != nil {
			t.Errorf("newMessage(%q) is %T", name, m)
		}
	}
}

// Every required member, absent and null alike, is a missing field; only a
// cursor may be null.
func TestRequiredMembers(t *testing.T) {
	for name, paths := range requiredMembers {
		for _, path := range paths {
			if strings.Contains(path, ".") {
				continue
			}
			for _, value := range []string{`"<absent>"`, `null`} {
				line := edited(t, name, `{"`+path+`":`+value+`}`)
				if path == "cursor" && value == "null" {
					decoded[*State](t, FromConnector, line)
					continue
				}
				want := Violation{Subtype: MissingField, MessageType: name, Expected: []string{path}}
				if strings.Contains(string(line), `"stream":"notes"`) {
					want.Stream = "notes"
				}
				refused(t, direction(name), line, want)
			}
		}
	}
}

// The objects that a message may leave out must be whole when it does not.
func TestRequiredMembersOfOptionalObjects(t *testing.T) {
	for name, paths := range requiredMembers {
		for _, path := range paths {
			if !strings.Contains(path, ".") {
				continue
			}
			steps := strings.Split(path, ".")
			object := `{}`
			for _, step := range slices.Backward(steps[1 : len(steps)-1]) {
				object = `{"` + step + `":` + object + `}`
			}
			d := NewDecoder(FromConnector)
			d.members = []Field{{steps[0], raw(object)}}
			if d.hasMember(path) {
				t.Errorf("%s: %s holds in %s", name, path, object)
			}
			for _, value := range []string{`null`, `"text"`} {
				if d.members[0].Value = raw(value); !d.hasMember(path) {
					t.Errorf("%s: %s does not hold when %s is %s", name, path, steps[0], value)
				}
			}
			if d.members = nil; !d.hasMember(path) {
				t.Errorf("%s: %s does not hold without its object", name, path)
			}
		}
	}
	refused(
		t,
		FromConnector,
		edited(t, TypeState, `{"accounted":{"required_keys":[]}}`),
		Violation{
			Subtype:     MissingField,
			MessageType: TypeState,
			Stream:      "notes",
			Expected:    []string{"accounted.hydrated_keys"},
		},
	)
}
