package declaration

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/manifest"
)

// DescribeStream returns the manifest's declaration of a stream; nil when it declares none.
func DescribeStream(m *manifest.Manifest, name string) *manifest.Stream {
	if m == nil {
		return nil
	}
	s, _ := m.Stream(name)
	return s
}

// StreamLabel returns the declared label of a stream, or else its name in words.
func StreamLabel(s *manifest.Stream, name string) string {
	if s != nil && s.Display != nil && s.Display.Label != "" {
		return s.Display.Label
	}
	return text.Name(name)
}

// Fields lists the top-level fields of a schema in their order, and what kind of values they hold.
func Fields(schema jsontext.Value) (names []string, kinds map[string]string) {
	names, kinds = []string{}, map[string]string{}
	EachProperty(schema, func(name string, value jsontext.Value) {
		names = append(names, name)
		kinds[name] = fieldKind(value)
	})
	return names, kinds
}

// fieldKind returns the kind of a field. One that holds values of several kinds, apart from null, is json.
func fieldKind(schema jsontext.Value) string {
	var declared struct {
		Type   jsontext.Value `json:"type"`
		Format string         `json:"format"`
	}
	if json.Unmarshal(schema, &declared) != nil {
		return api.FieldJSON
	}
	var types []string
	switch declared.Type.Kind() {
	case '"':
		types = []string{""}
		_ = json.Unmarshal(declared.Type, &types[0])
	case '[':
		_ = json.Unmarshal(declared.Type, &types)
	}
	types = slices.DeleteFunc(types, func(t string) bool { return t == "null" })
	if len(types) != 1 {
		return api.FieldJSON
	}
	switch types[0] + " " + declared.Format {
	case "string date-time":
		return api.FieldTime
	case "string date":
		return api.FieldDate
	}
	kind := map[string]string{"string": api.FieldText, "integer": api.FieldInteger, "number": api.FieldNumber,
		"boolean": api.FieldBoolean}[types[0]]
	return cmp.Or(kind, api.FieldJSON)
}

// EachProperty visits the members of a schema's "properties" in their order, as far
// as they can be read.
func EachProperty(schema jsontext.Value, visit func(name string, value jsontext.Value)) {
	var outline struct {
		Properties jsontext.Value `json:"properties"`
	}
	if len(schema) == 0 || json.Unmarshal(schema, &outline) != nil || outline.Properties.Kind() != '{' {
		return
	}
	dec := jsontext.NewDecoder(bytes.NewReader(outline.Properties))
	_, _ = dec.ReadToken()
	for dec.PeekKind() == '"' {
		name, _ := dec.ReadToken()
		text := name.String() // the token is gone with the next read
		value, err := dec.ReadValue()
		if err != nil {
			return
		}
		visit(text, value)
	}
}
