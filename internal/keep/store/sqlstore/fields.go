package sqlstore

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// EachField hands over the wanted members of a JSON object: a string's text, and
// everything else as it is written. An object that does not parse ends early.
func EachField(data []byte, wanted func(name string) bool, use func(name string, kind jsontext.Kind, text string)) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if t, err := dec.ReadToken(); err != nil || t.Kind() != '{' {
		return
	}
	for dec.PeekKind() == '"' {
		token, err := dec.ReadToken()
		if err != nil {
			return
		}
		name := token.String()
		kind := dec.PeekKind()
		switch {
		case !wanted(name):
			err = dec.SkipValue()
		case kind == '"':
			var t jsontext.Token
			if t, err = dec.ReadToken(); err == nil {
				use(name, kind, t.String())
			}
		default:
			var v jsontext.Value
			if v, err = dec.ReadValue(); err == nil {
				use(name, kind, string(v))
			}
		}
		if err != nil {
			return
		}
	}
}
