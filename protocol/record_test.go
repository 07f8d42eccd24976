package protocol

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRecordRules(t *testing.T) {
	const (
		stream, key = "stream: a non-empty string",
			"key: a non-empty string without NUL, or a non-empty array of non-empty strings"
		op, data = `op: absent, null, "upsert" or "delete"`, "data: an object"
		at       = "emitted_at: an ISO 8601 time"
	)
	for _, c := range []struct {
		patch    string
		subtype  Subtype
		want     string
		received string
	}{
		{`{"stream":"<absent>"}`, MissingField, stream, ""},
		{`{"stream":null}`, MissingField, stream, ""},
		{`{"stream":""}`, MissingField, stream, ""},
		{`{"stream":["notes"]}`, InvalidField, stream, "stream: array"},
		{`{"key":"<absent>"}`, MissingField, key, ""},
		{`{"key":null}`, MissingField, key, ""},
		{`{"key":""}`, InvalidField, key, "key: string"},
		{`{"key":7}`, InvalidField, key, "key: number"},
		{`{"key":{}}`, InvalidField, key, "key: object"},
		{`{"key":[]}`, InvalidField, key, "key: array"},
		{`{"key":"a\u0000b"}`, InvalidField, key, "key: string"},
		{`{"key":["a",""]}`, InvalidField, key, "key: array"},
		{`{"key":["a",7]}`, InvalidField, key, "key: array"},
		{`{"key":["a",null]}`, InvalidField, key, "key: array"},
		{`{"op":"insert"}`, InvalidField, op, "op: string"},
		{`{"op":""}`, InvalidField, op, "op: string"},
		{`{"op":true}`, InvalidField, op, "op: boolean"},
		{`{"data":"<absent>"}`, MissingField, data, ""},
		{`{"data":null}`, MissingField, data, ""},
		{`{"data":[]}`, InvalidField, data, "data: array"},
		{`{"data":"text"}`, InvalidField, data, "data: string"},
		{`{"op":"delete","data":[]}`, InvalidField, data, "data: array"},
		{`{"emitted_at":"<absent>"}`, MissingField, at, ""},
		{`{"emitted_at":null}`, MissingField, at, ""},
		{`{"emitted_at":""}`, MissingField, at, ""},
		{`{"emitted_at":1767322800}`, InvalidField, at, "emitted_at: number"},
		{`{"emitted_at":"yesterday"}`, InvalidField, at, "emitted_at: another string"},
		{`{"emitted_at":"2026/01/02"}`, InvalidField, at, "emitted_at: another string"},
		{`{"emitted_at":"2026-01/02"}`, InvalidField, at, "emitted_at: another string"},
		{`{"emitted_at":"2026-0x-02"}`, InvalidField, at, "emitted_at: another string"},
		{`{"emitted_at":"2026-01-0 "}`, InvalidField, at, "emitted_at: another string"},
		{`{"emitted_at":"2026-1-2 03:04"}`, InvalidField, at, "emitted_at: another string"},
		{`{"op":"delete","emitted_at":"soon"}`, InvalidField, at, "emitted_at: another string"},
	} {
		want := Violation{Subtype: c.subtype, MessageType: TypeRecord, Expected: []string{c.want}}
		if !strings.Contains(c.patch, `"stream"`) {
			want.Stream = "notes"
		}
		if v := refused(t, FromConnector, edited(t, TypeRecord, c.patch), want); v.Received != c.received {
			t.Errorf("%s: received %q, want %q", c.patch, v.Received, c.received)
		}
	}
}

func TestRecordAccepts(t *testing.T) {
	base := Record{Stream: "notes", Key: "n1", Data: raw(`{"id":"n1"}`), EmittedAt: "2026-01-02"}
	with := func(change func(*Record)) Record {
		r := base
		change(&r)
		return r
	}
	deleted := with(func(r *Record) { r.Op = OpDelete })
	tombstone := Record{Stream: "notes", Key: "n1", Op: OpDelete}
	for _, c := range []struct {
		patch string
		want  Record
	}{
		{`{}`, base},
		{`{"op":null}`, base},
		{`{"op":"upsert"}`, base},
		{`{"op":"\u0075psert"}`, base},
		{`{"op":"delete"}`, deleted},
		{`{"op":"\u0064elete"}`, deleted},
		{`{"op":"delete","data":"<absent>","emitted_at":"<absent>"}`, tombstone},
		{`{"op":"delete","data":null,"emitted_at":null}`, tombstone},
		{`{"op":"delete","data":null,"emitted_at":""}`, tombstone},
		{`{"emitted_at":"1999-09-29"}`, with(func(r *Record) { r.EmittedAt = "1999-09-29" })},
		{`{"emitted_at":"2026-01-02T03:04:05.678+02:00"}`,
			with(func(r *Record) { r.EmittedAt = "2026-01-02T03:04:05.678+02:00" })},
		{`{"stream":"no\u0074es","key":"n\u0031","emitted_at":"2026\u002d01-02"}`, base},
		{`{"key":["a","b c"]}`, with(func(r *Record) { r.Key = `["a","b c"]` })},
		{`{"key":[ "\u0061" , "b c" ]}`, with(func(r *Record) { r.Key = `["a","b c"]` })},
		{`{"key":["[\"a\"]"]}`, with(func(r *Record) { r.Key = `["[\"a\"]"]` })},
		{`{"key":"9007199254740993"}`, with(func(r *Record) { r.Key = "9007199254740993" })},
	} {
		got := decoded[*Record](t, FromConnector, edited(t, TypeRecord, c.patch))
		if diff := cmp.Diff(c.want, *got.Clone(), cmp.AllowUnexported(Record{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.patch, diff)
		}
	}
}

// Decoding copies no data: a record is a view of its line, and it is the
// decoder's one record, until it is cloned.
func TestRecordIsAView(t *testing.T) {
	d := NewDecoder(FromConnector)
	decode := func(line string) (*Record, []byte) {
		t.Helper()
		b := []byte(line)
		m, err := d.Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		return m.(*Record), b
	}
	first, line := decode(`{"type":"RECORD","stream":"notes","key":"n1","data":{"id":"one"},"emitted_at":"2026-01-02"}`)
	kept := first.Clone()
	if kept.Fields() != nil {
		t.Error("a clone has fields")
	}
	at := strings.Index(string(line), "one")
	copy(line[at:], "ONE")
	if string(first.Data) != `{"id":"ONE"}` || string(first.Fields()[0].Value) != `"ONE"` {
		t.Errorf("data %s and fields %v do not alias the line", first.Data, first.Fields())
	}
	if string(kept.Data) != `{"id":"one"}` {
		t.Errorf("the clone's data is %s", kept.Data)
	}

	second, _ := decode(`{"type":"RECORD","stream":"files","key":"f1","op":"delete"}`)
	if first != second {
		t.Error("each record has its own memory")
	}
	if second.Stream != "files" || second.Data != nil || second.EmittedAt != "" || len(second.Fields()) != 0 {
		t.Errorf("the second record keeps something of the first: %+v", second)
	}
	want := &Record{Stream: "notes", Key: "n1", Data: raw(`{"id":"one"}`), EmittedAt: "2026-01-02"}
	if diff := cmp.Diff(want, kept, cmp.AllowUnexported(Record{})); diff != "" {
		t.Errorf("clone (-want +got):\n%s", diff)
	}

	line = append(line[:0], "overwritten by the reader"...)
	if kept.Stream != "notes" || kept.Key != "n1" {
		t.Errorf("the clone aliases %s", line)
	}
}

// What follows a value in the line is out of reach of an append to it.
func TestRecordDataIsCapped(t *testing.T) {
	r := decoded[*Record](t, FromConnector, []byte(smallest[TypeRecord]))
	if len(r.Data) != cap(r.Data) {
		t.Errorf("data has room for %d bytes of the line", cap(r.Data)-len(r.Data))
	}
	for _, f := range r.Fields() {
		if len(f.Value) != cap(f.Value) {
			t.Errorf("%s has room for %d bytes of the line", f.Name, cap(f.Value)-len(f.Value))
		}
	}
}

// A record may name its import file. Invalid paths are rejected, and the record of a device names none.
func TestRecordNamesItsFile(t *testing.T) {
	t.Parallel()
	const head = `{"type":"RECORD","stream":"s","key":"k","data":{},"emitted_at":"2026-01-02"`
	d := NewDecoder(FromConnector)
	for given, want := range map[string]string{``: "", `,"file":null`: "", `,"file":"a/b.zip"`: "a/b.zip",
		`,"file":"\u00e4.zip"`: "ä.zip"} {
		m, err := d.Decode([]byte(head + given + "}"))
		if err != nil || m.(*Record).File != want {
			t.Errorf("%s: %+v, %v", given, m, err)
			continue
		}
		line, err := AppendLine(nil, m)
		again, failed := NewDecoder(FromConnector).Decode(line)
		if err != nil || failed != nil || again.(*Record).File != want {
			t.Errorf("%s: written as %s, %v, %v", given, line, err, failed)
		}
	}
	for _, bad := range []string{`""`, `7`, `["a"]`, `"a\u0000b"`, `"` + strings.Repeat("x", MaxFileName+1) + `"`} {
		if _, err := d.Decode([]byte(head + `,"file":` + bad + "}")); err == nil {
			t.Errorf("%.20s is taken", bad)
		}
	}
	r, err := d.Uploaded([]byte(`{"stream":"s","record_key":"k","data":{},"emitted_at":"2026-01-02","file":"a.zip"}`))
	if err != nil || r.File != "" {
		t.Errorf("uploaded: %+v, %v", r, err)
	}
}
