package runstate

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// maskedField counts how many secrets of a record were replaced, if the schema has it.
const maskedField = "redactions"

// maskRecord returns the record without its secrets. Keys and times never have the form of a
// secret.
func (r *Run) maskRecord(
	stream string, raw jsontext.Value, tree map[string]any,
) (jsontext.Value, map[string]any, error) {
	clean, n, err := r.Masks.MaskRecord(raw)
	if err != nil {
		return nil, nil, err
	}
	if n == 0 {
		return raw, tree, nil
	}
	if r.Scope[stream].Stream.HasField(maskedField) {
		clean = fmt.Appendf(clean[:len(clean)-1:len(clean)-1], `,%q:%d}`, maskedField, n)
	}
	tree, err = r.trees.DecodeRecord(clean)
	return clean, tree, err
}

// hasNoSecrets reports whether nothing in a record is to be masked.
func (r *Run) hasNoSecrets(raw jsontext.Value) bool {
	_, n, err := r.Masks.MaskRecord(raw)
	return err == nil && n == 0
}
