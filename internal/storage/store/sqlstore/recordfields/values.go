package recordfields

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// HoldsField reports whether an object has a value in a top-level field: a text by content, a number or boolean as
// written. Of repeated fields the last counts.
func HoldsField[T ~string | ~[]byte](data T, field, value string) (held bool) {
	EachField(data, func(name string) bool { return name == field }, func(_ string, kind jsontext.Kind, text string) {
		held = kind != '{' && kind != '[' && kind != 'n' && text == value
	})
	return held
}

// FieldValueAmong reports whether an object has one of several texts or numbers in a top-level field, compared as in
// HoldsField.
func FieldValueAmong(data, field string, values []string) (among bool) {
	EachField(data, func(name string) bool { return name == field }, func(_ string, kind jsontext.Kind, text string) {
		among = (kind == '"' || kind == '0') && slices.Contains(values, text)
	})
	return among
}

// PickFields returns some fields of a record, or none if it is unreadable.
func PickFields(data []byte, fields []string) jsontext.Value {
	picked, err := store.PickFields(data, fields)
	if err != nil {
		return jsontext.Value("{}")
	}
	return picked
}
