package protocol

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// Members unknown to the protocol may belong to a later version.
func TestUnknownMembersAreTolerated(t *testing.T) {
	for name := range smallest {
		dir := direction(name)
		plain, err := NewDecoder(dir).Decode([]byte(smallest[name]))
		if err != nil {
			t.Fatal(err)
		}
		line := edited(t, name, `{"Type":"DONE","x_future":{"a":[1,{"b":null}]},"Stream":7,"":"","accounted_for":[]}`)
		got, err := NewDecoder(dir).Decode(line)
		if diff := cmp.Diff(plain, got, cmpopts.IgnoreUnexported(Record{})); diff != "" || err != nil {
			t.Errorf("%s: %v (-without +with):\n%s", name, err, diff)
		}
	}
}

func TestUnknownTypes(t *testing.T) {
	for _, dir := range []Direction{FromConnector, ToConnector} {
		want := Violation{Subtype: UnknownMessageType, Expected: typeNames(dir)}
		for name, received := range map[string]string{
			``: `""`, `record`: `"record"`, `RECORD\u0020`: `"RECORD "`, `LOG`: `"LOG"`,
			strings.Repeat("é", 1000): `"` + strings.Repeat("é", 100) + `"`,
		} {
			v := refused(t, dir, []byte(`{"type":"`+name+`","stream":"notes"}`), want)
			if v.Received != received {
				t.Errorf("%s: received %s, want %s", name, v.Received, received)
			}
		}
	}
	m, err := NewDecoder(
		FromConnector,
	).Decode([]byte(`{"ty\u0070e":"\u0044ONE","status":"cancelled","records_emitted":0}`))
	if _, ok := m.(*Done); !ok {
		t.Errorf("an escaped spelling of DONE is %T (%v)", m, err)
	}
}

func TestTypeMember(t *testing.T) {
	for line, want := range map[string]Violation{
		`{}`:                     {Subtype: MissingField, Expected: []string{"type"}},
		`{"type":null}`:          {Subtype: MissingField, Expected: []string{"type"}},
		`{"data":{"type":"X"}}`:  {Subtype: MissingField, Expected: []string{"type"}},
		`{"type":7}`:             {Subtype: InvalidField, Expected: []string{"type: string"}},
		`{"type":["DONE"]}`:      {Subtype: InvalidField, Expected: []string{"type: string"}},
		`{"type":{"of":"DONE"}}`: {Subtype: InvalidField, Expected: []string{"type: string"}},
	} {
		refused(t, FromConnector, []byte(line), want)
	}
}

// Each side rejects messages of its own direction.
func TestWrongDirection(t *testing.T) {
	for name, line := range smallest {
		other := ToConnector - direction(name)
		refused(t, other, []byte(line), Violation{Subtype: WrongDirection, MessageType: name, Expected: typeNames(other)})
	}
	if got := typeNames(FromConnector); len(got) != 16 || slices.Contains(got, "START") {
		t.Errorf("a connector says %v", got)
	}
	if got := typeNames(ToConnector); len(got) != 6 || slices.Contains(got, "RECORD") {
		t.Errorf("the runner says %v", got)
	}
}

// A violation contains the last valid event of the other side.
func TestLastValidEvent(t *testing.T) {
	d := NewDecoder(FromConnector)
	for _, step := range []struct{ line, last string }{
		{`{`, ""},
		{smallest[TypeRecord], ""},
		{`{"type":"RECORD"}`, "RECORD"},
		{`{"type":"LOG"}`, "RECORD"},
		{smallest[TypeState], ""},
		{`{"type":"DONE"}`, "STATE"},
		{smallest[TypeStart], "STATE"},
		{strings.Repeat("[", 65), "STATE"},
	} {
		_, err := d.Decode([]byte(step.line))
		if v, bad := AsViolation(err); bad && v.LastValidEvent != step.last {
			t.Errorf("%s: last valid event %q, want %q", step.line, v.LastValidEvent, step.last)
		} else if !bad && step.last != "" {
			t.Errorf("%s is accepted", step.line)
		}
	}
}

// A long or odd stream name is truncated.
func TestViolationNamesTheStream(t *testing.T) {
	long := strings.Repeat("s", 1000)
	for _, c := range []struct{ stream, want string }{
		{`"notes"`, "notes"}, {`"\u006eotes"`, "notes"}, {`7`, ""}, {`null`, ""}, {`{"a":1}`, ""},
		{`"` + long + `"`, long[:200]},
	} {
		for _, form := range []string{
			`{"type":"STATE","stream":%s}`, `{"type":"PROGRESS","stream":%s,"message":""}`,
			`{"type":"PROGRESS","message":5,"stream":%s}`,
			`{"type":"RECORD","stream":%s}`, `{"type":"RECORD","key":"","stream":%s}`,
		} {
			_, err := NewDecoder(FromConnector).Decode(fmt.Appendf(nil, form, c.stream))
			if v, _ := AsViolation(err); v == nil || v.Stream != c.want {
				t.Errorf(form+": %+v", c.stream, v)
			}
		}
	}
}

// After rejecting a line the decoder decodes the next one.
func TestDecoderRecovers(t *testing.T) {
	d := NewDecoder(FromConnector)
	for _, broken := range []string{
		``, ` `, `{`, `{"a":{"b":[`, `"`, `{"type":"RECORD","data":{"a":1`, `{"type":"RECORD"}x`, `[]`, "\xff",
		`{"type":"RECORD","data":{"a":1,"a":2}}`,
	} {
		if m, err := d.Decode([]byte(broken)); err == nil {
			t.Errorf("%q is %T", broken, m)
		}
		m, err := d.Decode([]byte(smallest[TypeRecord]))
		if err != nil {
			t.Fatalf("after %q: %v", broken, err)
		}
		if r := m.(*Record); string(r.Data) != `{"id":"n1"}` || len(r.Fields()) != 1 {
			t.Errorf("after %q: data %s, fields %v", broken, r.Data, r.Fields())
		}
	}
}
