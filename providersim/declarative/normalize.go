package declarative

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/pdpp-go/pdpp/declarative/document"
)

// normalized casts the values of a record to the types of its schema.
func normalized(r *reader, raw []byte) []byte {
	record, err := decode(raw)
	if err != nil {
		return raw
	}
	for _, loader := range r.SchemaLoaders {
		if inline, ok := loader.(*document.InlineSchema); ok && inline.Schema != nil {
			normalizeObject(inline.Schema, record)
		}
	}
	return encode(record)
}

func normalizeObject(schema *document.Node, record map[string]any) {
	properties := schema.Member("properties")
	for name, v := range record {
		if p := properties.Member(name); p != nil {
			record[name] = normalizeValue(p, v)
		}
	}
}

func normalizeValue(schema *document.Node, v any) any {
	kind, _ := kindOf(schema)
	if schema.Member("type") == nil || v == nil {
		return v
	}
	switch have := v.(type) {
	case map[string]any:
		normalizeObject(schema, have)
	case []any:
		if items := schema.Member("items"); items != nil && items.Kind == document.Map {
			for i := range have {
				have[i] = normalizeValue(items, have[i])
			}
		}
	case bool:
		if kind == "string" {
			return map[bool]string{true: "True", false: "False"}[have]
		}
	case json.Number:
		if kind == "string" {
			return have.String()
		}
	case string:
		_, isNumber := strconv.ParseFloat(have, 64)
		_, isWhole := strconv.ParseInt(have, 10, 64)
		switch {
		case kind == "number" && isNumber == nil, kind == "integer" && isWhole == nil:
			return json.Number(have)
		case kind == "boolean" && slices.Contains([]string{"true", "yes", "1", "on", "t", "y"}, strings.ToLower(have)):
			return true
		case kind == "boolean" && slices.Contains([]string{"false", "no", "0", "off", "f", "n"}, strings.ToLower(have)):
			return false
		}
	}
	return v
}
