package protocol

import (
	"fmt"
	"strings"
	"testing"
)

func TestLinesThatAreNotOneObject(t *testing.T) {
	malformed := Violation{Subtype: MalformedJSON, Expected: []string{"one JSON object"}}
	notObject := Violation{Subtype: NotAnObject, Expected: []string{"a JSON object"}}
	record := smallest[TypeRecord]
	for line, want := range map[string]Violation{
		``: malformed, ` `: malformed, `{`: malformed, `}`: malformed, `nul`: malformed, `{'type':'DONE'}`: malformed,
		record[:len(record)-1]:                            malformed,
		record + `{}`:                                     malformed,
		record + ` ,`:                                     malformed,
		record + "\x00":                                   malformed,
		"\ufeff" + record:                                 malformed,
		`{"type":"DONE" "status":"failed"}`:               malformed,
		`{"type":"DONE","records_emitted":01}`:            malformed,
		`{"type":"DONE","records_emitted":NaN}`:           malformed,
		"{\"type\":\"DONE\",\"status\":\"a\tb\"}":         malformed, // a raw control character
		"{\"type\":\"DONE\",\"status\":\"\xff\"}":         malformed, // invalid UTF-8
		"{\"type\":\"DONE\",\"st\xc3\":1}":                malformed,
		`{"type":"DONE","status":"\ud800"}`:               malformed, // half a surrogate pair
		`{"type":"DONE","type":"DONE"}`:                   malformed,
		`{"type":"DONE","ty\u0070e":"DONE"}`:              malformed,
		`{"type":"RECORD","data":{"a":1,"a":2}}`:          malformed,
		`{"type":"RECORD","data":{"a":{"b":1,"b":2}}}`:    malformed,
		`{"type":"RECORD","data":{"a":1},"data":{"a":1}}`: malformed,
		`[]`:       notObject,
		`null`:     notObject,
		`"RECORD"`: notObject,
		` 12 `:     notObject,
		`[1`:       malformed,
	} {
		refused(t, FromConnector, []byte(line), want)
	}
	decoded[*Record](t, FromConnector, []byte(" \t"+record+"\r\n "))
}

// nested is a record with its deepest value at the level, beside others.
func nested(levels int, open, shut, others string) []byte {
	inner := levels - 2 // the message and its data
	return []byte(`{"type":"RECORD","stream":"s","key":"k","emitted_at":"2026-01-02","data":{"a":` +
		strings.Repeat(open, inner) + `1` + strings.Repeat(shut, inner) + others + `}}`)
}

func TestNestingBound(t *testing.T) {
	tooDeep := Violation{Subtype: NestingTooDeep, Expected: []string{"at most 64 levels"}}
	for open, shut := range map[string]string{`[`: `]`, `{"a":`: `}`} {
		for _, others := range []string{``, `,"b":[{},[[]]]`} {
			decoded[*Record](t, FromConnector, nested(MaxDepth, open, shut, others))
			refused(t, FromConnector, nested(MaxDepth+1, open, shut, others), tooDeep)
		}
	}
	refused(t, FromConnector, []byte(strings.Repeat("[", 1<<20)), tooDeep)

	many := strings.Repeat("[", 500)
	for _, value := range []string{
		`"` + many + `"`, `"\"` + many + `"`, `"\\",` + `"b":"` + many + `\\\""`, `[` + strings.Repeat(`{"b":[]},`, 500) +
			`0]`,
	} {
		line := `{"type":"RECORD","stream":"s","key":"k","emitted_at":"2026-01-02","data":{"a":` + value + `}}`
		decoded[*Record](t, FromConnector, []byte(line))
	}
	line := `{"type":"RECORD","stream":"s","key":"k","emitted_at":"2026-01-02","` + many + `":1,"data":{}}`
	decoded[*Record](t, FromConnector, []byte(line))
}

func TestFieldsInWireOrder(t *testing.T) {
	d := NewDecoder(FromConnector)
	for _, c := range []struct{ data, want string }{
		{`{"b":1,"a":{"x":[2]},"":null,"\u0063\n":"d"}`, "b=1\na={\"x\":[2]}\n=null\nc\n=\"d\"\n"},
		{`{"b":2,"a":"\u0061","c":[] }`, "b=2\na=\"\\u0061\"\nc=[]\n"},
		{`{}`, ""},
		{` { "a" : 1 , "b" : true } `, "a=1\nb=true\n"},
		{`{"a\\u0062":1}`, "a\\u0062=1\n"},
		{`{"a\u0062":1}`, "ab=1\n"}, // not the name before, although the bytes are
		{`{"\\u0062":1}`, "\\u0062=1\n"},
		{`{"\u0062":1}`, "b=1\n"},
	} {
		m, err := d.Decode([]byte(`{"type":"RECORD","stream":"s","key":"k","data":` + c.data + `,"emitted_at":"2026-01-02"}`))
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for _, f := range m.(*Record).Fields() {
			fmt.Fprintf(&got, "%s=%s\n", f.Name, f.Value)
		}
		if got.String() != c.want {
			t.Errorf("%s: fields %q, want %q", c.data, got.String(), c.want)
		}
		if data := string(m.(*Record).Data); data != strings.TrimSpace(c.data) {
			t.Errorf("%s: data %q", c.data, data)
		}
	}
}

// Only the record's own data is cut into fields.
func TestOnlyDataIsCutIntoFields(t *testing.T) {
	line := `{"type":"RECORD","stream":"s","key":"k","note":{"data":{"x":1}},"data":{"data":{"y":1}},` +
		`"emitted_at":"2026-01-02"}`
	r := decoded[*Record](t, FromConnector, []byte(line))
	if f := r.Fields(); len(f) != 1 || f[0].Name != "data" || string(f[0].Value) != `{"y":1}` {
		t.Errorf("fields %v", f)
	}
}

// What the decoder remembers between lines does not grow with what it is sent.
func TestDecoderMemoryIsBounded(t *testing.T) {
	d := NewDecoder(FromConnector)
	decode := func(data string) *Record {
		t.Helper()
		m, err := d.Decode([]byte(`{"type":"RECORD","stream":"s","key":"k","emitted_at":"2026-01-02","data":{` + data + `}}`))
		if err != nil {
			t.Fatal(err)
		}
		return m.(*Record)
	}
	long := strings.Repeat("n", maxNameLen)
	if f := decode(`"` + long + `":1`).Fields(); f[0].Name != long || len(d.names) == 0 {
		t.Errorf("a long name reads as %q", f[0].Name)
	}
	for name := range d.names {
		if len(name) > maxNameLen {
			t.Errorf("a name of %d bytes is kept", len(name))
		}
	}
	var many strings.Builder
	for i := range 2 * maxNames {
		fmt.Fprintf(&many, `"f%d":%d,`, i, i)
	}
	for range 2 {
		fields := decode(many.String() + `"last":0`).Fields()
		if n := len(fields); n != 2*maxNames+1 || fields[n-2].Name != fmt.Sprintf("f%d", n-2) || len(d.names) > maxNames {
			t.Errorf("%d fields, %d names kept", n, len(d.names))
		}
	}
	if r := decode(`"a":1`); len(r.Fields()) != 1 || cap(r.fields) > maxKept {
		t.Errorf("a list of capacity %d is kept", cap(r.fields))
	}
	decode(`"a":"` + strings.Repeat("x", maxAliased) + `","b":2`)
	if r := decode(`"a":1`); len(r.fields[:cap(r.fields)]) > 1 && r.fields[:2][1].Value != nil {
		t.Error("a large line is kept")
	}
}
