package connectorkit

import (
	stdjson "encoding/json"
	"errors"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"pdpp/protocol"
)

// Record is one thing that a page holds: a record, a deletion, or something
// unreadable. The kit derives a record's key from the manifest's primary key.
type Record struct {
	data    any
	deleted string
	fault   *Fault
	blobs   []Blob // nil: nothing is said of them
	listed  bool   // it is of the item itself, not of its details
	file    string // of an import, that it came from
}

// FromFile says that the record came from a file of an import, by its path with slashes below the
// import's folder. Undoing the import deletes what came from its file alone.
func (r Record) FromFile(path string) Record {
	if path = strings.ToValidUTF8(path, "\uFFFD"); len(path) <= protocol.MaxFileName {
		r.file = path
	}
	return r
}

// OfItem is, among the details of an item, the item's own record: what its list says, made
// whole by what only the details tell. It is for a Lane that has Completed.
func OfItem(r Record) Record {
	r.listed = true
	return r
}

// Upsert is a new or changed record. Data is a JSON object: a struct with json
// tags, a map, or raw JSON as jsontext.Value.
func Upsert(data any) Record {
	if data == nil {
		return Record{fault: &Fault{Path: "record"}}
	}
	return Record{data: data}
}

// Delete is a record that the provider reports as deleted. A compound key is
// spelled by protocol.CompoundKey. Only mutable_state streams can delete.
func Delete(key string) Record {
	if key == "" {
		return Record{fault: &Fault{Path: "/primary_key"}}
	}
	return Record{deleted: key}
}

// Unreadable is a record that the connector could not decode. It is declared as
// missing, by the place in the answer that err names and without content.
func Unreadable(key string, err error) Record {
	f := &Fault{Key: key, Path: "decode"}
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		f.Path += string(semantic.JSONPointer)
	}
	return Record{fault: f}
}

// isZero reports whether the record is the zero value, which an item without a
// list record has.
func (r Record) isZero() bool { return r.data == nil && r.deleted == "" && r.fault == nil }

// form says who wrote a record's JSON.
type form int

const (
	formForeign form = iota // the connector
	formOwn                 // the kit
	formFinal               // the kit, as the protocol writes it
)

// fields are those of a record that is a struct of plain members; nil when it is none.
func (r Record) fields() (*quickRecord, reflect.Value) {
	v := reflect.ValueOf(r.data)
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return nil, v
	}
	return quickRecordOf(v.Type()), v
}

// encode gives the record as JSON; buf is memory that it may use.
func (r Record) encode(buf []byte) (raw jsontext.Value, by form, err error) {
	if raw, isRaw := r.data.(jsontext.Value); isRaw {
		return raw, formForeign, nil
	}
	if quick, v := r.fields(); quick != nil {
		if raw, ok := quick.append(buf[:0], v); ok {
			return raw, formFinal, nil
		}
	}
	raw, err = json.Marshal(r.data, json.Deterministic(true))
	return raw, formOwn, err
}

// keyOf reads the primary key from a decoded record; false when a part of it is
// missing or is neither text nor number.
func keyOf(tree map[string]any, fields []string) (string, bool) {
	parts := make([]string, len(fields))
	for i, name := range fields {
		switch v := tree[name].(type) {
		case string:
			parts[i] = v
		case stdjson.Number:
			parts[i] = v.String()
		}
		if parts[i] == "" {
			return "", false
		}
	}
	if len(parts) == 1 {
		return parts[0], true
	}
	return protocol.CompoundKey(parts...), len(parts) > 0
}
