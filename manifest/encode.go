package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
)

// JSON returns the manifest as indented JSON with keys in a fixed order, without absent keys. If the manifest is
// valid, Parse accepts the result and returns an equal manifest.
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

// Equal reports whether both manifests have the same content. White space and the order of keys inside raw values
// do not matter. A manifest that cannot be encoded equals none.
func (m *Manifest) Equal(other *Manifest) bool {
	a, errA := m.genericTree()
	b, errB := other.genericTree()
	return errA == nil && errB == nil && reflect.DeepEqual(a, b)
}

// genericTree returns the manifest as generic JSON. Numbers keep their text.
func (m *Manifest) genericTree() (any, error) {
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
