package protocol

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// WireKey is a record key that may be encoded as a string or a number. A number keeps its literal text, so large
// ids stay exact.
type WireKey string

// UnmarshalJSONFrom accepts a string or a number.
func (k *WireKey) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	v, err := dec.ReadValue()
	if err != nil {
		return err
	}
	if v.Kind() == 'n' {
		*k = ""
		return nil
	}
	s, err := keyText(v)
	*k = WireKey(s)
	return err
}

// KeyList is a set of keys in message order.
type KeyList []string

// MarshalJSONTo writes a nil set as an empty array, because required sets must be present.
func (l KeyList) MarshalJSONTo(enc *jsontext.Encoder) error {
	if l == nil {
		return enc.WriteValue(jsontext.Value("[]"))
	}
	return json.MarshalEncode(enc, []string(l))
}

// UnmarshalJSONFrom accepts an array of strings and numbers.
func (l *KeyList) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if k := dec.PeekKind(); k == 'n' {
		*l = nil
		return dec.SkipValue()
	} else if k != '[' {
		return errKeyList
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	out := KeyList{}
	for dec.PeekKind() != ']' {
		v, err := dec.ReadValue()
		if err != nil {
			return err
		}
		s, err := keyText(v)
		if err != nil {
			return err
		}
		out = append(out, s)
	}
	*l = out
	_, err := dec.ReadToken()
	return err
}

var (
	errKeyText error = wireError("a key: a non-empty string without NUL, or a number")
	errKeyList error = wireError("keys: an array of strings and numbers")
)

func keyText(v jsontext.Value) (string, error) {
	switch v.Kind() {
	case '"':
		b, err := jsontext.AppendUnquote(nil, v)
		if err == nil && !isStorableKey(string(b)) {
			err = errKeyText
		}
		return string(b), err
	case '0':
		return string(v), nil
	default:
		return "", errKeyText
	}
}

// CompoundKey returns the canonical form of a key with several parts.
func CompoundKey(parts ...string) string {
	b := []byte{'['}
	for i, p := range parts {
		if i > 0 {
			b = append(b, ',')
		}
		b, _ = jsontext.AppendQuote(b, p) // fails only on invalid UTF-8, which it replaces
	}
	return string(append(b, ']'))
}

// isStorableKey reports whether every store can hold the key. PostgreSQL has no text with NUL bytes. Inside a compound
// key a NUL is escaped.
func isStorableKey(key string) bool { return key != "" && strings.IndexByte(key, 0) < 0 }

// recordKey parses the key of a RECORD: a non-empty string or a non-empty array of strings.
func recordKey(v jsontext.Value) (string, bool) {
	switch v.Kind() {
	case '"':
		s, err := unquote(v)
		return s, err == nil && isStorableKey(s)
	case '[':
		var parts []string
		if json.Unmarshal(v, &parts) != nil || len(parts) == 0 {
			return "", false
		}
		for _, p := range parts {
			if p == "" {
				return "", false
			}
		}
		return CompoundKey(parts...), true
	default:
		return "", false
	}
}

// equalsUnescaped reports whether the JSON string v equals s and contains no escape.
func equalsUnescaped(v jsontext.Value, s string) bool {
	inner := v[1 : len(v)-1]
	return string(inner) == s && bytes.IndexByte(inner, '\\') < 0
}

// unquote is AppendUnquote with at most one allocation.
func unquote(v jsontext.Value) (string, error) {
	inner := v[1 : len(v)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return string(inner), nil
	}
	b, err := jsontext.AppendUnquote(nil, v)
	return string(b), err
}
