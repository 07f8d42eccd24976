package gate

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/pdpp-go/pdpp/protocol"
)

// simpleSchema is a record schema that only constrains single members. Each member is checked separately, most without
// parsing them again, because the decoder knows their kinds.
type simpleSchema struct {
	required []string
	kinds    map[string][]byte // kinds that the type of a member allows
	parts    map[string]*jsonschema.Schema
}

// annotations describe a value without constraining it. format is an annotation in the newest draft, which
// applies without $schema.
var annotations = []string{
	"title",
	"description",
	"$comment",
	"default",
	"examples",
	"deprecated",
	"readOnly",
	"writeOnly",
	"format",
}

// kindsOfType are the kinds of JSON values, as the decoder names them, that a type allows. An integer needs a further
// check.
var kindsOfType = map[string]string{
	"string":  `"`,
	"number":  "0",
	"integer": "i",
	"boolean": "tf",
	"null":    "n",
	"object":  "{",
	"array":   "[",
}

// readSimpleSchema returns the simplified form of a compiled schema, or nil if the schema is more complex.
func readSimpleSchema(raw []byte, compiled *jsonschema.Schema) *simpleSchema {
	var keywords map[string]json.RawMessage
	if json.Unmarshal(raw, &keywords) != nil {
		return nil
	}
	p := &simpleSchema{kinds: map[string][]byte{}, parts: compiled.Properties}
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

// kindsAllowed returns the kinds for a member schema that only contains a type, and nil for any other.
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
		kinds = append(kinds, kindsOfType[name]...)
	}
	return kinds
}

// allows reports whether the record certainly satisfies the schema. Otherwise the full schema decides.
func (p *simpleSchema) allows(r *protocol.Record) bool {
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

func (p *simpleSchema) member(f protocol.Field) bool {
	if kinds := p.kinds[f.Name]; kinds != nil {
		kind := byte(f.Value.Kind())
		if kind != '0' {
			return bytes.IndexByte(kinds, kind) >= 0
		}
		if bytes.ContainsAny(f.Value, "eE") { // it may exceed the range of numbers
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
