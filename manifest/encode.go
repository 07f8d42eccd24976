package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
)

// JSON is the manifest as indented JSON with its keys in a fixed order and
// absent keys left out. Parse accepts it and yields an equal manifest, provided
// that the manifest is valid.
func (m *Manifest) JSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(m); err != nil {
		return nil, fmt.Errorf("encode manifest: %w", err)
	}
	return b.Bytes(), nil
}

// Equal reports whether both manifests say the same. White space and the order
// of keys inside raw values do not matter; a manifest that cannot be encoded
// equals none.
func (m *Manifest) Equal(other *Manifest) bool {
	a, errA := m.tree()
	b, errB := other.tree()
	return errA == nil && errB == nil && reflect.DeepEqual(a, b)
}

// tree is the manifest as generic JSON in which numbers keep their spelling.
func (m *Manifest) tree() (any, error) {
	text, err := m.JSON()
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var tree any
	err = dec.Decode(&tree)
	return tree, err
}
