package runstate

import (
	"context"

	"github.com/pdpp-go/pdpp/connectorkit/failure"

	stdjson "encoding/json"
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit/internal/recordcheck"
	"github.com/pdpp-go/pdpp/protocol"
)

// Record is one entry of a page: a record, a deletion, or something unreadable.
type Record struct {
	Data    any
	deleted string
	Fault   *failure.Fault
	Blobs   []Blob // nil: files stay as they are
	Listed  bool   // the item's own record, not a detail
	File    string // import file that it came from
}

// Blob is a file of a record.
type Blob struct {
	Field, Path, MimeType, Name string
	TooLarge                    bool // it exceeds the owner's limit and was not saved
}

// EncodedRecord is a record that a part of the kit has encoded.
type EncodedRecord jsontext.Value

// DeletedRecord returns a record that the provider reports as deleted.
func DeletedRecord(key string) Record {
	if key == "" {
		return Record{Fault: &failure.Fault{Path: "/primary_key"}}
	}
	return Record{deleted: key}
}

// isZeroRecord reports whether the record is the zero value, for an item without a list record.
func (r Record) isZeroRecord() bool { return r.Data == nil && r.deleted == "" && r.Fault == nil }

// recordForm is what encoded a record's JSON.
type recordForm int

const (
	formOfConnector recordForm = iota // the connector
	formOfKit                         // the kit
	formOfProtocol                    // the kit, as the protocol writes it
)

// structEncoder returns the encoder and value of a record that is a plain struct, or nil.
func (r Record) structEncoder() (*recordcheck.RecordEncoder, reflect.Value) {
	v := reflect.ValueOf(r.Data)
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return nil, v
	}
	return recordcheck.EncoderFor(v.Type()), v
}

// encodeRecord returns the record as JSON. It may use buf.
func (r Record) encodeRecord(buf []byte) (raw jsontext.Value, by recordForm, err error) {
	if raw, isRaw := r.Data.(jsontext.Value); isRaw {
		return raw, formOfConnector, nil
	}
	if raw, isEncoded := r.Data.(EncodedRecord); isEncoded {
		return jsontext.Value(raw), formOfKit, nil
	}
	if quick, v := r.structEncoder(); quick != nil {
		if raw, ok := quick.AppendRecord(buf[:0], v); ok {
			return raw, formOfProtocol, nil
		}
	}
	raw, err = json.Marshal(r.Data, json.Deterministic(true))
	return raw, formOfKit, err
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

// namedBlobs returns the files of a record for which its data has the members, and how many are too large.
func (r Record) namedBlobs(data jsontext.Value) (blobs []protocol.Blob, tooLarge int, err error) {
	if r.Blobs == nil {
		return nil, 0, nil
	}
	var members map[string]jsontext.Value
	if err := json.Unmarshal(data, &members); err != nil {
		return nil, 0, err
	}
	blobs = []protocol.Blob{}
	for _, b := range r.Blobs {
		if _, there := members[b.Field]; !there {
			continue // the member was not requested
		}
		if b.TooLarge {
			tooLarge++
			continue
		}
		blobs = append(blobs, protocol.Blob{Field: b.Field, Path: b.Path, MIME: b.MimeType, Name: b.Name})
	}
	return blobs, tooLarge, nil
}

// declareTooLarge reports that files of a record exceed the owner's limit.
func (r *Run) declareTooLarge(ctx context.Context, stream, key string, files int) error {
	ids := make([]string, files)
	for i := range ids {
		ids[i] = key
	}
	return r.Out.Send(ctx, &protocol.SkipResult{Stream: stream, Reason: protocol.ReasonBlobTooLarge, ResourceIDs: ids,
		RecoveryHint: &protocol.RecoveryHint{Action: protocol.ManualActionRequired}})
}
