package store

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// PickFields returns a JSON object with only the named members, in their order and unchanged.
func PickFields(data []byte, fields []string) (jsontext.Value, error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return nil, errors.New("read record: not an object")
	}
	out := []byte{'{'}
	for d.PeekKind() != '}' {
		token, err := d.ReadToken()
		if err != nil {
			return nil, fmt.Errorf("read record: %w", err)
		}
		name := token.String()
		if !slices.Contains(fields, name) {
			if err := d.SkipValue(); err != nil {
				return nil, fmt.Errorf("read record: %w", err)
			}
			continue
		}
		value, err := d.ReadValue()
		if err != nil {
			return nil, fmt.Errorf("read record: %w", err)
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		if out, err = jsontext.AppendQuote(out, name); err != nil {
			return nil, fmt.Errorf("write record: %w", err)
		}
		out = append(append(out, ':'), value...)
	}
	return append(out, '}'), nil
}
