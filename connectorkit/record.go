package connectorkit

import (
	stdjson "encoding/json"
	"errors"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/protocol"
)

// Record is one entry of a page: a record, a deletion, or something unreadable. The kit derives a record's key
// from the manifest's primary key.
type Record struct {
	data    any
	deleted string
	fault   *Fault
	blobs   []Blob // nil: files stay as they are
	listed  bool   // the item's own record, not a detail
	file    string // import file that it came from
}

// FromFile returns the record with its import file, as a path with slashes below the import's folder. Undoing an
// import deletes the records that came only from its file.
func (r Record) FromFile(path string) Record {
	if path = strings.ToValidUTF8(path, "\uFFFD"); len(path) <= protocol.MaxFileName {
		r.file = path
	}
	return r
}

// OfItem marks, among the details of an item, the item's own record, completed with what only the details
// contain. It is for a ListDetail with Completed.
func OfItem(r Record) Record {
	r.listed = true
	return r
}

// Upsert returns a new or changed record. Data is a JSON object: a struct with json tags, a map, or raw JSON as
// jsontext.Value.
func Upsert(data any) Record {
	if data == nil {
		return Record{fault: &Fault{Path: "record"}}
	}
	return Record{data: data}
}

// Delete returns a record that the provider reports as deleted. Use protocol.CompoundKey for a compound key. Only
// mutable_state streams can delete.
func Delete(key string) Record {
	if key == "" {
		return Record{fault: &Fault{Path: "/primary_key"}}
	}
	return Record{deleted: key}
}

// Unreadable returns a record that the connector could not decode. It is declared as missing, with the location
// from err and without content.
func Unreadable(key string, err error) Record {
	f := &Fault{Key: key, Path: "decode"}
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		f.Path += string(semantic.JSONPointer)
	}
	return Record{fault: f}
}

// isZero reports whether the record is the zero value, for an item without a list record.
func (r Record) isZero() bool { return r.data == nil && r.deleted == "" && r.fault == nil }

// recordForm is what encoded a record's JSON.
type recordForm int

const (
	formForeign recordForm = iota // the connector
	formOwn                       // the kit
	formFinal                     // the kit, as the protocol writes it
)

// fields returns the encoder and value of a record that is a plain struct, or nil.
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

// encode returns the record as JSON. It may use buf.
func (r Record) encode(buf []byte) (raw jsontext.Value, by recordForm, err error) {
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

// primaryKeyOf returns the primary key of a decoded record. It returns false if a part is missing or neither string nor
// number.
func primaryKeyOf(tree map[string]any, fields []string) (string, bool) {
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
