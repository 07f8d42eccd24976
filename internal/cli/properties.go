package cli

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// eachProperty visits the members of a schema's "properties" in their order.
func eachProperty(schema jsontext.Value, visit func(name string, value jsontext.Value) error) error {
	var outline struct {
		Properties jsontext.Value `json:"properties"`
	}
	if err := json.Unmarshal(schema, &outline); err != nil || outline.Properties.Kind() != '{' {
		return err
	}
	dec := jsontext.NewDecoder(bytes.NewReader(outline.Properties))
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return err
		}
		text := name.String() // the token is gone with the next read
		value, err := dec.ReadValue()
		if err != nil {
			return err
		}
		if err := visit(text, value); err != nil {
			return err
		}
	}
	return nil
}
