package recordcheck

import (
	"bytes"
	stdjson "encoding/json"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/protocol"
)

// PickMembers replaces the content of tree by the named members, in the form that a schema validates. It returns false
// if one is neither a string, a number, a boolean nor null, which no key and no time is.
func PickMembers(tree map[string]any, fields []protocol.Field, names []string) bool {
	clear(tree)
	for _, f := range fields {
		if !slices.Contains(names, f.Name) {
			continue
		}
		switch f.Value.Kind() {
		case '"':
			text := []byte(f.Value[1 : len(f.Value)-1])
			if bytes.IndexByte(text, '\\') >= 0 {
				text, _ = jsontext.AppendUnquote(nil, f.Value) // the decoder has validated it
			}
			tree[f.Name] = string(text)
		case '0':
			tree[f.Name] = stdjson.Number(f.Value)
		case 't', 'f':
			tree[f.Name] = f.Value[0] == 't'
		case 'n':
			tree[f.Name] = nil
		default:
			return false
		}
	}
	return true
}
