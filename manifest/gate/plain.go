package gate

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"pdpp/protocol"
)

// plain is a record schema that says no more of a record as a whole than which members it
// has. Each member is held against its own part alone, and most without being read again:
// the decoder has told their kinds.
type plain struct {
	required []string
	kinds    map[string][]byte // by member: the kinds that its type allows
	parts    map[string]*jsonschema.Schema
}

// annotations say something about a value and ask nothing of it. A format is one in the
// newest draft, which is the one without $schema.
var annotations = []string{"title", "description", "$comment", "default", "examples", "deprecated", "readOnly", "writeOnly", "format"}

// kindsOf are the kinds of JSON values, as the decoder names them, that a type allows. An
// integer is a number of which more has to be seen.
var kindsOf = map[string]string{"string": `"`, "number": "0", "integer": "i", "boolean": "tf", "null": "n", "object": "{", "array": "["}

// readPlain reads a schema that was compiled; nil where it says more than a plain one.
func readPlain(raw []byte, compiled *jsonschema.Schema) *plain {
	var keywords map[string]json.RawMessage
	if json.Unmarshal(raw, &keywords) != nil {
		return nil
	}
	p := &plain{kinds: map[string][]byte{}, parts: compiled.Properties}
	var kind string
	var members map[string]json.RawMessage
	for keyword, value := range keywords {
		var err error
		switch {
		case keyword == "type":
			err = json.Unmarshal(value, &kind)
		case keyword == "required":
			err = json.Unmarshal(value, &p.required)
		case keyword == "properties":
			err = json.Unmarshal(value, &members)
		case keyword == "additionalProperties" && string(value) == "true", slices.Contains(annotations, keyword):
		default:
			return nil
		}
		if err != nil {
			return nil
		}
	}
	if kind != "object" {
		return nil
	}
	for name, part := range members {
		if kinds := kindsAllowed(part); kinds != nil {
			p.kinds[name] = kinds
		}
	}
	return p
}

// kindsAllowed reads the schema of a member that asks for a type and nothing else; nil for
// any other.
func kindsAllowed(part json.RawMessage) (kinds []byte) {
	var keywords map[string]json.RawMessage
	if json.Unmarshal(part, &keywords) != nil || keywords["type"] == nil {
		return nil
	}
	for keyword := range keywords {
		if keyword != "type" && !slices.Contains(annotations, keyword) {
			return nil
		}
	}
	var types []string
	if json.Unmarshal(keywords["type"], &types) != nil {
		types = make([]string, 1)
		if json.Unmarshal(keywords["type"], &types[0]) != nil {
			return nil
		}
	}
	for _, name := range types {
		kinds = append(kinds, kindsOf[name]...)
	}
	return kinds
}

// allows reports whether the record certainly is as the schema says. The whole schema decides
// about any other.
func (p *plain) allows(r *protocol.Record) bool {
	fields := r.Fields()
	for _, name := range p.required {
		if !slices.ContainsFunc(fields, func(f protocol.Field) bool { return f.Name == name }) {
			return false
		}
	}
	for _, f := range fields {
		if !p.member(f) {
			return false
		}
	}
	return true
}

func (p *plain) member(f protocol.Field) bool {
	if kinds := p.kinds[f.Name]; kinds != nil {
		kind := byte(f.Value.Kind())
		if kind != '0' {
			return bytes.IndexByte(kinds, kind) >= 0
		}
		if bytes.ContainsAny(f.Value, "eE") { // it may be more than a number can be
			return false
		}
		return bytes.IndexByte(kinds, '0') >= 0 || bytes.IndexByte(kinds, 'i') >= 0 && bytes.IndexByte(f.Value, '.') < 0
	}
	part := p.parts[f.Name]
	if part == nil {
		return true
	}
	var tree any
	return json.Unmarshal(f.Value, &tree) == nil && part.Validate(tree) == nil
}
