package gate

import (
	"encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// Record checks one record against the scope and the manifest. On success it returns the record's time in its
// stored form.
func (st *Stream) Record(r *protocol.Record) (semantic string, v *protocol.Violation) {
	if v := st.gateResource(r); v != nil {
		return "", v
	}
	if r.Op == protocol.OpDelete {
		if st.Decl.Semantics != manifest.MutableState {
			return "", st.violation(protocol.TombstoneNotAllowed, `op "delete"`, "records only: the stream is append_only")
		}
		return "", nil
	}
	if v := st.gateKey(r); v != nil && !st.keepsKeys {
		return "", v
	}
	if st.fields != nil {
		for _, f := range r.Fields() {
			if !st.fields[f.Name] {
				return "", st.violation(protocol.FieldOutOfScope, "field "+quoteName(f.Name), "only the fields in scope")
			}
		}
	}
	if v := st.gateSchema(r); v != nil {
		return "", v
	}
	return st.gateTime(r)
}

// gateResource checks the record against the selected resources: record keys, or values of the field that the
// manifest names. A deletion has no field to check.
func (st *Stream) gateResource(r *protocol.Record) *protocol.Violation {
	if st.resources == nil {
		return nil
	}
	field := st.Decl.ResourceField()
	switch {
	case field == "" && !st.resources[r.Key]:
		return st.violation(protocol.ResourceOutOfScope, "record key "+quoteName(r.Key), "a key in the declared resources")
	case field == "" || r.Op == protocol.OpDelete:
		return nil
	}
	if value, ok := readFieldText(r, field); !ok || !st.resources[value] {
		return st.violation(
			protocol.ResourceOutOfScope,
			"record key "+quoteName(r.Key)+" with another "+field+" or none",
			"data."+field+" in the declared resources",
		)
	}
	return nil
}

// gateSchema checks the data against the declared schema, if that is enforced.
func (st *Stream) gateSchema(r *protocol.Record) *protocol.Violation {
	if st.schema == nil || st.fields != nil { // a schema describes complete records
		return nil
	}
	if st.quick != nil && st.quick.Allows(r.Fields()) {
		return nil
	}
	var tree any
	err := json.Unmarshal(r.Data, &tree)
	if err == nil {
		err = st.schema.Validate(tree)
	}
	if err == nil {
		return nil
	}
	return st.violation(protocol.SchemaMismatch, "something else", "what the schema says at "+manifest.SchemaPath(err))
}

// gateKey checks the record's key against its primary key fields.
func (st *Stream) gateKey(r *protocol.Record) *protocol.Violation {
	key := st.Decl.PrimaryKey
	if len(key) == 1 {
		if text, ok := readFieldText(r, key[0]); !ok || text != r.Key {
			return st.violation(protocol.KeyMismatch, "another value or none", "data."+key[0]+" equal to the key")
		}
		return nil
	}
	parts := make([]string, len(key))
	for i, name := range key {
		var ok bool
		if parts[i], ok = readFieldText(r, name); !ok {
			return st.violation(protocol.KeyMismatch, "none", "data."+name)
		}
	}
	if len(key) > 0 && protocol.CompoundKey(parts...) != r.Key {
		return st.violation(protocol.KeyMismatch, "another value", "data."+strings.Join(key, ", data.")+" equal to the key")
	}
	return nil
}

// OtherKey reports whether the record's key differs from the value of its primary key, and returns that value. A
// missing field counts as empty.
func (st *Stream) OtherKey(r *protocol.Record) (value string, other bool) {
	if r.Op == protocol.OpDelete || st.gateKey(r) == nil {
		return "", false
	}
	parts := make([]string, len(st.Decl.PrimaryKey))
	for i, name := range st.Decl.PrimaryKey {
		parts[i], _ = readFieldText(r, name)
	}
	return protocol.CompoundKey(parts...), true
}

// gateTime parses the stream's consent time and checks it against the scope's range.
func (st *Stream) gateTime(r *protocol.Record) (string, *protocol.Violation) {
	if st.Decl.ConsentTimeField == "" {
		return "", nil
	}
	bounded := st.Scope.TimeRange != nil
	text, ok := readFieldText(r, st.Decl.ConsentTimeField)
	at, stored, readable := protocol.SemanticTime(text)
	if !ok || !readable {
		if bounded {
			return "", st.violation(
				protocol.OutsideTimeRange,
				"no readable time",
				"data."+st.Decl.ConsentTimeField+" as an RFC 3339 time",
			)
		}
		return "", nil
	}
	if bounded && (!st.since.IsZero() && at.Before(st.since) || !st.until.IsZero() && !at.Before(st.until)) {
		return "", st.violation(
			protocol.OutsideTimeRange,
			"a time outside the range",
			"data."+st.Decl.ConsentTimeField+" within the scope's time_range",
		)
	}
	return stored, nil
}

func (st *Stream) violation(sub protocol.Subtype, received string, expected ...string) *protocol.Violation {
	return &protocol.Violation{
		Subtype:     sub,
		MessageType: protocol.TypeRecord,
		Stream:      st.Decl.Name,
		Received:    received,
		Expected:    expected,
	}
}

// quoteName returns a key or a field in quotes. Both are identifiers and not content.
func quoteName(s string) string { return `"` + s + `"` }

// readFieldText returns a top-level string or number of the record's data as text.
func readFieldText(r *protocol.Record, name string) (string, bool) {
	for _, f := range r.Fields() {
		if f.Name != name {
			continue
		}
		switch f.Value.Kind() {
		case '"':
			return unquoteString(f.Value), true
		case '0':
			return string(f.Value), true
		}
		return "", false
	}
	return "", false
}

func unquoteString(v jsontext.Value) string {
	b, _ := jsontext.AppendUnquote(nil, v) // the decoder has validated it
	return string(b)
}
