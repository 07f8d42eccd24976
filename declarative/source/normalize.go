package source

import (
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/declarative/document"
	"github.com/pdpp-go/pdpp/declarative/expression"
)

// normalize casts the members of a record to the types of its schema.
func (s *stream) normalize(raw jsontext.Value) jsontext.Value {
	for _, loader := range s.SchemaLoaders {
		if inline, ok := loader.(*document.InlineSchema); ok {
			raw = normalizeMembers(inline.Schema, raw)
		}
	}
	return raw
}

// normalizeMembers casts the members of an object or the items of a list.
func normalizeMembers(schema *document.Node, raw jsontext.Value) jsontext.Value {
	switch raw.Kind() {
	case '{':
		properties := schema.Member("properties")
		if properties == nil {
			return raw
		}
		o, err := decodeObject(raw)
		var members map[string]jsontext.Value
		if err != nil || json.Unmarshal(raw, &members) != nil {
			return raw
		}
		for i, name := range properties.Names {
			if v := members[name]; v != nil {
				o.set(name, castToSchema(properties.Items[i], v))
			}
		}
		return o.encode()
	case '[':
		items := schema.Member("items")
		var list []jsontext.Value
		if items == nil || items.Kind != document.Map || json.Unmarshal(raw, &list) != nil {
			return raw
		}
		out := jsontext.Value{'['}
		for i, item := range list {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(out, castToSchema(items, item)...)
		}
		return append(out, ']')
	}
	return raw
}

// castToSchema casts a value to the only type of its schema. What cannot be cast stays as it is, and so does null.
func castToSchema(schema *document.Node, raw jsontext.Value) jsontext.Value {
	var types []string
	if t := schema.Member("type"); t != nil && t.Kind == document.List {
		for _, item := range t.Items {
			types = append(types, item.String())
		}
	} else {
		types = []string{t.String()}
	}
	types = slices.DeleteFunc(types, func(name string) bool { return name == "null" })
	if len(types) != 1 || raw.Kind() == 'n' {
		return normalizeMembers(schema, raw)
	}
	v := expression.LazyJSON(raw)
	text := expression.Print(v)
	switch types[0] {
	case "string":
		if raw.Kind() != '"' {
			raw, _ = jsontext.AppendQuote(nil, text) // a printed value is UTF-8
		}
		return raw
	case "number", "integer":
		return castNumber(types[0], text, raw)
	case "boolean":
		return castBoolean(v, text, raw)
	case "array":
		if raw.Kind() == '"' || raw.Kind() == '0' || raw.Kind() == 't' || raw.Kind() == 'f' {
			if kind := schema.Member("items").Member("type").String(); kind != "object" && kind != "array" {
				return slices.Concat(jsontext.Value{'['}, raw, jsontext.Value{']'})
			}
		}
	}
	return normalizeMembers(schema, raw)
}

func castNumber(kind, text string, raw jsontext.Value) jsontext.Value {
	switch raw.Kind() {
	case 't':
		return jsontext.Value("1")
	case 'f':
		return jsontext.Value("0")
	case '"', '0':
	default:
		return raw
	}
	text = strings.TrimSpace(text)
	if kind == "integer" && raw.Kind() == '0' {
		whole, _, fraction := strings.Cut(text, ".")
		if _, err := strconv.ParseInt(whole, 10, 64); fraction && err == nil {
			return jsontext.Value(whole)
		}
		return raw
	}
	if kind == "integer" {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return strconv.AppendInt(nil, n, 10)
		}
		return raw
	}
	if number := jsontext.Value(text); raw.Kind() == '"' && number.IsValid() && number.Kind() == '0' {
		return number
	}
	return raw
}

func castBoolean(v expression.Value, text string, raw jsontext.Value) jsontext.Value {
	if raw.Kind() != '"' {
		return strconv.AppendBool(nil, expression.Truth(v))
	}
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "y", "yes", "t", "true", "on", "1":
		return jsontext.Value("true")
	case "n", "no", "f", "false", "off", "0":
		return jsontext.Value("false")
	}
	return raw
}
