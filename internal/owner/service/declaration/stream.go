package declaration

import (
	"bytes"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

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

// CredentialFields lists the top-level fields of a schema in their order.
func CredentialFields(schema jsontext.Value) []string {
	out := []string{}
	EachProperty(schema, func(name string, _ jsontext.Value) { out = append(out, name) })
	return out
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
