package manifest

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// soundSchema reports whether a record schema certainly compiles. It knows the keywords of nearly all record
// schemas and reads the text once. The compiler, which takes many times as long, decides about the rest. Listing
// connectors reads hundreds of schemas, and every connector reads its own when it starts.
func soundSchema(raw json.RawMessage) bool {
	d := soundReader{jsontext.NewDecoder(bytes.NewBuffer(raw))}
	if d.PeekKind() != '{' || !d.schema() {
		return false
	}
	_, err := d.ReadToken()
	return err == io.EOF
}

// soundReader reads parts of a schema. Each method returns false for unknown input. A repeated name in an object
// is an error of the decoder, and therefore unknown.
type soundReader struct{ *jsontext.Decoder }

func (d soundReader) schema() bool {
	switch d.PeekKind() {
	case 't', 'f':
		return d.SkipValue() == nil
	case '{':
		return d.members(d.keyword)
	default:
		return false
	}
}

func (d soundReader) keyword(name string) bool {
	switch name {
	case "type":
		return d.types()
	case "properties":
		return d.PeekKind() == '{' && d.members(func(string) bool { return d.schema() })
	case "items", "additionalProperties":
		return d.schema()
	case "required":
		_, ok := d.texts()
		return ok
	case "enum":
		return d.values()
	case "minLength", "maxLength", "minItems", "maxItems":
		return d.number("0123456789")
	case "minimum", "maximum":
		return d.number("0123456789.-")
	case "title", "description", "format":
		return d.text()
	default:
		return (strings.HasPrefix(name, "x_") || strings.HasPrefix(name, "x-")) && d.text()
	}
}

// members calls read for each member of an object, which reads its value.
func (d soundReader) members(read func(name string) bool) bool {
	if _, err := d.ReadToken(); err != nil {
		return false
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil || !read(name.String()) {
			return false
		}
	}
	_, err := d.ReadToken()
	return err == nil
}

func (d soundReader) types() bool {
	known := func(name string) bool {
		return slices.Contains([]string{"string", "number", "integer", "boolean", "null", "object", "array"}, name)
	}
	if d.PeekKind() == '"' {
		name, err := d.ReadToken()
		return err == nil && known(name.String())
	}
	names, ok := d.texts()
	return ok && len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool { return !known(name) })
}

// texts reads a list of distinct strings.
func (d soundReader) texts() (all []string, ok bool) {
	if d.PeekKind() != '[' {
		return nil, false
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, false
	}
	for d.PeekKind() == '"' {
		text, err := d.ReadToken()
		if err != nil || slices.Contains(all, text.String()) {
			return nil, false
		}
		all = append(all, text.String())
	}
	end, err := d.ReadToken()
	return all, err == nil && end.Kind() == ']'
}

// values reads a list of strings and other scalar values except numbers.
func (d soundReader) values() bool {
	if d.PeekKind() != '[' {
		return false
	}
	if _, err := d.ReadToken(); err != nil {
		return false
	}
	for slices.Contains([]jsontext.Kind{'"', 't', 'f', 'n'}, d.PeekKind()) {
		if d.SkipValue() != nil {
			return false
		}
	}
	end, err := d.ReadToken()
	return err == nil && end.Kind() == ']'
}

// number reads a short number that contains only these characters.
func (d soundReader) number(with string) bool {
	if d.PeekKind() != '0' {
		return false
	}
	n, err := d.ReadValue()
	return err == nil && len(n) <= 15 && strings.Trim(string(n), with) == ""
}

func (d soundReader) text() bool { return d.PeekKind() == '"' && d.SkipValue() == nil }
