package connectorkit

import (
	"errors"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit/internal/runstate"
	"github.com/pdpp-go/pdpp/protocol"
)

// Record is one entry of a page: a record, a deletion, or something unreadable. The kit derives a record's key
// from the manifest's primary key.
type Record struct{ content runstate.Record }

// FromFile returns the record with its import file, as a path with slashes below the import's folder. Undoing an
// import deletes the records that came only from its file.
func (r Record) FromFile(path string) Record {
	if path = strings.ToValidUTF8(path, "\uFFFD"); len(path) <= protocol.MaxFileName {
		r.content.File = path
	}
	return r
}

// ListedRecord marks, among the details of an item, the item's own record, completed with what only the details
// contain. It is for a ListDetail with Completed.
func ListedRecord(r Record) Record {
	r.content.Listed = true
	return r
}

// Upsert returns a new or changed record. Data is a JSON object: a struct with json tags, a map, or raw JSON as
// jsontext.Value.
func Upsert(data any) Record {
	if data == nil {
		return Record{runstate.Record{Fault: &Fault{Path: "record"}}}
	}
	return Record{runstate.Record{Data: data}}
}

// UpsertEncoded is Upsert for raw JSON that the caller has encoded member by member: one object, without space between
// tokens, without a repeated name, and valid in itself. Its validation is as fast as that of a struct.
func UpsertEncoded(raw jsontext.Value) Record {
	return Record{runstate.Record{Data: runstate.EncodedRecord(raw)}}
}

// Delete returns a record that the provider reports as deleted. Use protocol.CompoundKey for a compound key. Only
// mutable_state streams can delete.
func Delete(key string) Record { return Record{runstate.DeletedRecord(key)} }

// Unreadable returns a record that the connector could not decode. It is declared as missing, with the location
// from err and without content.
func Unreadable(key string, err error) Record {
	f := &Fault{Key: key, Path: "decode"}
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		f.Path += string(semantic.JSONPointer)
	}
	return Record{runstate.Record{Fault: f}}
}
