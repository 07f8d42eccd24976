package protocol

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// record builds the RECORD from the members that split found. It is the hot path: no reflection, no copy of data.
func (d *Decoder) record() (Message, *Violation) {
	r := &d.rec
	stream, emittedAt := r.Stream, r.EmittedAt // consecutive records often have equal values
	file := r.File
	r.Stream, r.Key, r.Op, r.Data, r.EmittedAt, r.Blobs, r.File = "", "", OpUpsert, nil, "", nil, ""
	for i := range d.members {
		m := &d.members[i]
		if m.Value.Kind() == 'n' {
			continue
		}
		ok := true
		switch m.Name {
		case "stream":
			if ok = m.Value.Kind() == '"'; ok {
				r.Stream = d.text(m.Value, stream)
			}
		case "key":
			r.Key, ok = recordKey(m.Value)
		case "op":
			r.Op, ok = d.recordOp(m.Value)
		case "emitted_at":
			if ok = m.Value.Kind() == '"'; ok {
				if r.EmittedAt = emittedAt; !equalsUnescaped(m.Value, emittedAt) {
					r.EmittedAt, _ = unquote(m.Value)
				}
			}
		case "data":
			r.Data = m.Value
		case "blobs":
			r.Blobs, ok = blobsOf(m.Value)
		case "file":
			if ok = m.Value.Kind() == '"'; ok {
				r.File = d.text(m.Value, file)
				ok = isFileName(r.File)
			}
		}
		if !ok {
			return nil, &Violation{
				Subtype: InvalidField, MessageType: TypeRecord, Stream: d.streamName(),
				Expected: []string{recordRules[m.Name]}, Received: m.Name + ": " + kindName(m.Value.Kind()),
			}
		}
	}
	v := r.check()
	if v == nil {
		v = r.checkBlobs(d.uploaded)
	}
	if v != nil {
		v.MessageType, v.Stream = TypeRecord, d.streamName()
		return nil, v
	}
	return r, nil
}

// Uploaded decodes a record that a device uploads: a RECORD without its type, with a string key in "record_key".
// The error is always a *Violation.
func (d *Decoder) Uploaded(object []byte) (*Record, error) {
	if TooDeep(object, MaxDepth) {
		return nil, &Violation{Subtype: NestingTooDeep, Expected: []string{"at most " + strconv.Itoa(MaxDepth) + " levels"}}
	}
	if v := d.split(object); v != nil {
		return nil, v
	}
	for i := range d.members {
		switch m := &d.members[i]; m.Name {
		case "record_key":
			m.Name = "key"
		case "key", "type", "file":
			m.Name = "" // not a member of an upload
		}
	}
	d.uploaded = true
	_, v := d.record()
	d.uploaded = false
	if v != nil {
		return nil, v
	}
	return &d.rec, nil
}

var recordRules = map[string]string{
	"stream":     "stream: a non-empty string",
	"key":        "key: a non-empty string without NUL, or a non-empty array of non-empty strings",
	"op":         `op: absent, null, "upsert" or "delete"`,
	"emitted_at": "emitted_at: an ISO 8601 time",
	"data":       "data: an object",
	"blobs":      "blobs: an array of objects, each with a field and a path",
	"file":       "file: a path below the folder of the import, of at most " + strconv.Itoa(MaxFileName) + " bytes",
}

// MaxFileName bounds the name of a record's import file, in bytes.
const MaxFileName = 1024

// isFileName reports whether name is a valid import file of a record.
func isFileName(name string) bool {
	return name != "" && len(name) <= MaxFileName && !strings.ContainsRune(name, 0)
}

func (d *Decoder) recordOp(v jsontext.Value) (Op, bool) {
	if v.Kind() != '"' {
		return OpUpsert, false
	}
	switch d.text(v, "") {
	case "upsert":
		return OpUpsert, true
	case string(OpDelete):
		return OpDelete, true
	default:
		return OpUpsert, false
	}
}

func (r *Record) check() *Violation {
	missing := ""
	switch {
	case r.Stream == "":
		missing = "stream"
	case r.Key == "":
		missing = "key"
	case r.Op == OpDelete && r.EmittedAt == "":
		// A tombstone needs neither data nor a time (RT-07).
	case r.Op != OpDelete && r.Data == nil:
		missing = "data"
	case r.EmittedAt == "":
		missing = "emitted_at"
	case !looksLikeISOTime(r.EmittedAt):
		return &Violation{
			Subtype:  InvalidField,
			Expected: []string{recordRules["emitted_at"]},
			Received: "emitted_at: another string",
		}
	}
	if missing != "" {
		return &Violation{Subtype: MissingField, Expected: []string{recordRules[missing]}}
	}
	if r.Data != nil && r.Data.Kind() != '{' {
		return &Violation{
			Subtype:  InvalidField,
			Expected: []string{recordRules["data"]},
			Received: "data: " + kindName(r.Data.Kind()),
		}
	}
	return nil
}

// looksLikeISOTime accepts YYYY-MM-DD with anything after it. The time is only for display and for the order of
// history, so any precision is allowed.
func looksLikeISOTime(s string) bool {
	if len(s) < len("2006-01-02") || s[4] != '-' || s[7] != '-' {
		return false
	}
	for _, i := range [...]int{0, 1, 2, 3, 5, 6, 8, 9} {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// Clone copies everything that aliases the decoder's line. It drops Fields.
func (r *Record) Clone() *Record {
	c := *r
	c.Data, c.Blobs, c.fields = bytes.Clone(r.Data), slices.Clone(r.Blobs), nil
	return &c
}
