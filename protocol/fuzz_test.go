package protocol

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/go-json-experiment/json/jsontext"
)

var hostileLines = []string{
	``,
	` `,
	`{}`,
	`null`,
	`[]`,
	`{"type":null}`,
	`{"type":"RECORD"}`,
	`{"type":"RECORD","data":{}}`,
	"\xff\xfe",
	"\ufeff{}",
	`{"type":"\ud800"}`,
	`{"type":"DONE","type":"DONE"}`,
	`{"type":"RECORD","data":{"a":1,"a":2}}`,
	`{"type":"LOG","message":"` + strings.Repeat("é", 300) + `"}`,
	strings.Repeat(`{"data":`, 70),
	strings.Repeat(`[`, 70),
	`{"type":"RECORD","stream":"s","key":["a","\u2028"],"data":{"\u2029":"\\\""},"emitted_at":"2026-01-02"}`,
	`{"type":"RECORD","stream":"s","key":"k","op":"delete","data":[[[[]]]]}`,
	`{"type":"STATE","stream":"s","cursor":{"n":1e999}}`,
	`{"type":"STATE","stream":"s","cursor":null,"accounted":{"required_keys":[1,1.0,"1"],"hydrated_keys":[1]}}`,
	`{"type":"PROGRESS","message":"m","count":-0,"attachment_recovery_outcome":{"object":7},` +
		`"attachment_hydration_failure_outcome":{}}`,
	`{"type":"DETAIL_COVERAGE","stream":"s","state_stream":"t","required_keys":[],"hydrated_keys":[],` +
		`"considered":1e400,"covered":{}}`,
	`{"type":"DONE","status":"failed","records_emitted":9223372036854775807,"error":{"recovery_hint":"unknown"}}`,
	`{"type":"ASSISTANCE","assistance_request_id":"h","progress_posture":"running","owner_action":"none",` +
		`"response_contract":"none","message":"m","attachments":[null,{"kind":"qr","Kind":1}]}`,
	`{"type":"START","run_id":"r","collection_mode":"incremental",` +
		`"scope":{"streams":[{"name":"s","view":null}]},"state":{"":null},"bindings":{},"detail_gaps":null}`,
}

// FuzzDecode holds for any bytes: no panic, no violation that is too large to
// store, and what is accepted survives being written and read again.
func FuzzDecode(f *testing.F) {
	for _, line := range hostileLines {
		f.Add([]byte(line), false)
		f.Add([]byte(line), true)
	}
	for name, line := range smallest {
		f.Add([]byte(line), direction(name) == ToConnector)
	}
	for _, g := range slices.Concat(connectorGoldens, runnerGoldens) {
		f.Add([]byte(g.line), direction(g.msg.Type()) == ToConnector)
	}
	f.Fuzz(func(t *testing.T, line []byte, toConnector bool) {
		dir := FromConnector
		if toConnector {
			dir = ToConnector
		}
		before := bytes.Clone(line)
		first, err := NewDecoder(dir).Decode(line)
		used := NewDecoder(dir)
		for _, earlier := range [][]byte{[]byte(benchLine), line} {
			_, _ = used.Decode(earlier)
		}
		again, err2 := used.Decode(line)
		if !bytes.Equal(before, line) {
			t.Fatalf("decoding changed the line to %q", line)
		}
		if (err == nil) != (err2 == nil) || !cmp.Equal(first, again, sameMessage) {
			t.Fatalf("a fresh decoder says %v, a used one %v:\n%s", err, err2, cmp.Diff(first, again, sameMessage))
		}
		if err != nil {
			checkBoundedViolation(t, err)
			return
		}
		if r, ok := first.(*Record); ok {
			checkFields(t, r)
		}
		wire, err := AppendLine(nil, first)
		if err != nil {
			t.Fatalf("%+v: %v", first, err)
		}
		body, ended := bytes.CutSuffix(wire, []byte("\n"))
		if !ended || bytes.ContainsAny(body, "\n\r\u2028\u2029") {
			t.Fatalf("not one clean line: %q", wire)
		}
		second, err := NewDecoder(dir).Decode(body)
		if err != nil {
			t.Fatalf("%s: %v", wire, err)
		}
		if diff := cmp.Diff(first, second, sameMessage); diff != "" {
			t.Fatalf("%s (-first +second):\n%s", wire, diff)
		}
	})
}

func checkBoundedViolation(t *testing.T, err error) {
	t.Helper()
	v, ok := AsViolation(err)
	if !ok || v.Subtype == "" {
		t.Fatalf("%T is no violation: %v", err, err)
	}
	b := v.Bounded()
	all := append(b.Expected, string(b.Subtype), string(b.MessageType), b.Stream, b.Received, b.LastValidEvent)
	for _, s := range all {
		if len(s) > maxViolationText || !utf8.ValidString(s) {
			t.Fatalf("a violation's text of %d bytes: %q", len(s), s)
		}
	}
	if len(b.Expected) > maxViolationExpected || len(v.Error()) > 2000 {
		t.Fatalf("a violation of %d expectations and %d bytes", len(b.Expected), len(v.Error()))
	}
}

// checkFields compares the fields with a second reading of the data.
func checkFields(t *testing.T, r *Record) {
	t.Helper()
	if r.Data == nil {
		if len(r.Fields()) != 0 {
			t.Fatalf("fields without data: %v", r.Fields())
		}
		return
	}
	dec := jsontext.NewDecoder(bytes.NewReader(r.Data))
	if _, err := dec.ReadToken(); err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Fields() {
		name, err := dec.ReadToken()
		if err != nil || name.String() != f.Name {
			t.Fatalf("field %q stands for %q (%v)", f.Name, name, err)
		}
		value, err := dec.ReadValue()
		if err != nil || !bytes.Equal(value, f.Value) {
			t.Fatalf("field %q is %q, want %q (%v)", f.Name, f.Value, value, err)
		}
	}
	if end, err := dec.ReadToken(); err != nil || end.Kind() != '}' {
		t.Fatalf("fields %v leave something out of %s", r.Fields(), r.Data)
	}
}

// FuzzLineReader holds the reader to a plain split of the same bytes, cut off
// at the first line past the bound.
func FuzzLineReader(f *testing.F) {
	for _, input := range []string{"", "a\nb", "\r\n\n\r", "a\r\r\nb\r", "\u2028\n\u2029", "12345678\n123456789\n",
		"12345678\r\n", "123456789\r"} {
		f.Add([]byte(input), uint8(8))
	}
	f.Fuzz(func(t *testing.T, input []byte, bound uint8) {
		limit := int(bound)
		if limit == 0 {
			limit = DefaultMaxLine
		}
		var want []string
		wantEnd := "EOF"
		for line := range bytes.SplitSeq(input, []byte("\n")) {
			line = bytes.TrimSuffix(line, []byte("\r"))
			if len(line) > limit {
				wantEnd = string(LineTooLong)
				break
			}
			if len(line) > 0 {
				want = append(want, string(line))
			}
		}
		for _, reader := range []io.Reader{
			bytes.NewReader(input), iotest.OneByteReader(bytes.NewReader(input)), iotest.DataErrReader(bytes.NewReader(input)),
		} {
			got, err := readAll(NewLineReader(reader, int(bound)))
			end := err.Error()
			if v, ok := AsViolation(err); ok {
				end = string(v.Subtype)
			}
			if diff := cmp.Diff(want, got); diff != "" || end != wantEnd {
				t.Fatalf("%T ends with %s, want %s (-want +got):\n%s", reader, end, wantEnd, diff)
			}
		}
	})
}
