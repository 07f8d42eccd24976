package gate

import (
	"bytes"
	stdjson "encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/pdpp-go/pdpp/protocol"
)

// Schema is a compiled record schema. The kit uses it before it sends a record, and the gates when a record arrives.
// It knows the keywords of nearly all schemas and builds no tree. It only accepts records: the full validation
// decides about those that it does not accept. The nil Schema accepts every value.
type Schema struct {
	kinds    valueKinds // allowed kinds of a value; zero means any
	members  map[string]schemaMember
	required uint64  // bits of the required members
	others   *Schema // of other members
	closed   bool    // other members are not allowed
	items    *Schema
	enum     map[string]bool    // allowed strings; nil means any value
	least    int                // minimum length of a string
	full     *jsonschema.Schema // decides instead, because of an unknown keyword
}

type schemaMember struct {
	schema *Schema
	bit    uint64 // bit of a required member
}

// valueKinds is a set of types.
type valueKinds uint8

const (
	kindNull valueKinds = 1 << iota
	kindBool
	kindText
	kindWhole
	kindNumber
	kindList
	kindObject
)

var kindsByName = map[string]valueKinds{
	"null":    kindNull,
	"boolean": kindBool,
	"string":  kindText,
	"integer": kindWhole,
	"number":  kindNumber | kindWhole,
	"array":   kindList,
	"object":  kindObject,
}

// annotations describe a value without constraining it. format is an annotation in the newest draft, which
// applies without $schema.
var annotations = []string{
	"title", "description", "$comment", "default", "examples", "deprecated", "readOnly", "writeOnly", "format",
}

// maxRequired bounds the required members of an object, which are bits of a number.
const maxRequired = 64

// CompileSchema compiles the schema of a record. It returns false if the schema is too complex. With the full
// schema, which may be nil, a member with an unknown keyword is validated by its part of that.
func CompileSchema(raw jsontext.Value, full *jsonschema.Schema) (*Schema, bool) {
	if raw.Kind() != '{' {
		return nil, false
	}
	var parts map[string]*jsonschema.Schema
	if full != nil {
		parts = full.Properties
	}
	return compileSchema(raw, parts)
}

func compileSchema(raw jsontext.Value, parts map[string]*jsonschema.Schema) (*Schema, bool) {
	if raw.Kind() == 't' {
		return nil, true
	}
	var keywords map[string]jsontext.Value
	if raw.Kind() != '{' || json.Unmarshal(raw, &keywords) != nil {
		return nil, false
	}
	q := &Schema{}
	var required []string
	var members map[string]jsontext.Value
	for keyword, value := range keywords {
		ok := true
		switch keyword {
		case "type":
			q.kinds, ok = readValueKinds(value)
		case "properties":
			ok = json.Unmarshal(value, &members) == nil
		case "required":
			ok = json.Unmarshal(value, &required) == nil && len(required) <= maxRequired
		case "items":
			q.items, ok = compileSchema(value, nil)
		case "additionalProperties":
			if q.closed = value.Kind() == 'f'; !q.closed {
				q.others, ok = compileSchema(value, nil)
			}
		case "enum":
			q.enum, ok = readStringList(value)
		case "minLength":
			ok = json.Unmarshal(value, &q.least) == nil
		default:
			ok = slices.Contains(annotations, keyword) || strings.HasPrefix(keyword, "x_") ||
				strings.HasPrefix(keyword, "x-")
		}
		if !ok {
			return nil, false
		}
	}
	return q, q.compileMembers(members, required, parts)
}

func (q *Schema) compileMembers(members map[string]jsontext.Value, required []string,
	parts map[string]*jsonschema.Schema) bool {
	q.members = make(map[string]schemaMember, len(members))
	for name, value := range members {
		schema, ok := compileSchema(value, nil)
		if !ok {
			if parts[name] == nil {
				return false
			}
			schema = &Schema{full: parts[name]}
		}
		q.members[name] = schemaMember{schema: schema}
	}
	for i, name := range required {
		m, declared := q.members[name]
		if !declared {
			if q.closed {
				return false
			}
			m.schema = q.others
		}
		m.bit |= 1 << i
		q.required |= m.bit
		q.members[name] = m
	}
	return true
}

// readStringList parses a list of strings. It returns false for any other content.
func readStringList(value jsontext.Value) (map[string]bool, bool) {
	var list []any
	if json.Unmarshal(value, &list) != nil {
		return nil, false
	}
	texts := map[string]bool{}
	for _, v := range list {
		text, ok := v.(string)
		if !ok {
			return nil, false
		}
		texts[text] = true
	}
	return texts, true
}

func readValueKinds(value jsontext.Value) (set valueKinds, ok bool) {
	list := []string{""}
	if value.Kind() == '"' {
		ok = json.Unmarshal(value, &list[0]) == nil
	} else {
		ok = json.Unmarshal(value, &list) == nil
	}
	for _, name := range list {
		set |= kindsByName[name]
		ok = ok && kindsByName[name] != 0
	}
	return set, ok
}

// Allows reports whether a record with these fields certainly matches the schema. The fields come from a
// protocol.Decoder, which has validated their JSON.
func (q *Schema) Allows(fields []protocol.Field) bool {
	if !q.allowsKind(kindObject) {
		return false
	}
	missing := q.required
	for i := range fields {
		schema, bit, ok := q.member(fields[i].Name)
		if !ok || !schema.allowsValue(fields[i].Value) {
			return false
		}
		missing &^= bit
	}
	return missing == 0
}

// member returns the schema of a member, and its bit if it is required. It returns false if the member is not
// allowed.
func (q *Schema) member(name string) (schema *Schema, bit uint64, ok bool) {
	if m, known := q.members[name]; known {
		return m.schema, m.bit, true
	}
	return q.others, 0, !q.closed
}

// allowsKind reports whether a value of that kind, other than a string, is valid.
func (q *Schema) allowsKind(k valueKinds) bool {
	return (q.kinds == 0 || q.kinds&k != 0) && q.enum == nil
}

func (q *Schema) allowsValue(v jsontext.Value) bool {
	if q == nil {
		return true
	}
	if q.full != nil {
		var tree any
		return stdjson.Unmarshal(v, &tree) == nil && q.full.Validate(tree) == nil
	}
	switch v.Kind() {
	case '"':
		return q.allowsText(v[1 : len(v)-1])
	case '0':
		return q.allowsNumber(v)
	case '{':
		return q.allowsObject(v)
	case '[':
		return q.allowsList(v)
	case 'n':
		return q.allowsKind(kindNull)
	default:
		return q.allowsKind(kindBool)
	}
}

// allowsText decides about a string without its quotes. The full validation decides about escapes if they matter.
func (q *Schema) allowsText(text []byte) bool {
	if q.kinds != 0 && q.kinds&kindText == 0 {
		return false
	}
	if q.enum == nil && q.least == 0 {
		return true
	}
	return bytes.IndexByte(text, '\\') < 0 && (q.enum == nil || q.enum[string(text)]) && utf8.RuneCount(text) >= q.least
}

// allowsNumber leaves exponents to the full validation, because such a number may be out of range.
func (q *Schema) allowsNumber(v jsontext.Value) bool {
	switch {
	case bytes.ContainsAny(v, "eE"):
		return false
	case bytes.IndexByte(v, '.') >= 0:
		return q.allowsKind(kindNumber)
	}
	return q.allowsKind(kindWhole)
}

func (q *Schema) allowsList(v jsontext.Value) bool {
	return q.allowsKind(kindList) && (q.items == nil || protocol.EveryElement(v, q.items.allowsValue))
}

func (q *Schema) allowsObject(v jsontext.Value) bool {
	if !q.allowsKind(kindObject) {
		return false
	}
	if len(q.members) == 0 && q.others == nil && !q.closed {
		return true
	}
	missing := q.required
	return protocol.EveryMember(v, func(name []byte, value jsontext.Value) bool {
		schema, bit, ok := q.member(string(name))
		missing &^= bit
		return ok && schema.allowsValue(value)
	}) && missing == 0
}
