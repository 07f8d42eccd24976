package sqlstore

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/keep/store"
)

// A condition on a field is asked of that field alone: how long it takes, and what is
// loaded, never depends on what another field of the record holds. Both databases have
// the functions record_holds and record_pick for it. SQLite's are those of this program.
// PostgreSQL cannot read a record whose text has certain escapes: record_holds then gives
// NULL and record_pick the whole record, and the rest is done here. Which records these
// are does not depend on what is asked for.

// HoldsField reports whether an object has a value in a top-level field: a text by what
// it says, a number or a boolean by how it is written. Of a field that is there more than
// once the last counts.
func HoldsField[T ~string | ~[]byte](data T, field, value string) (held bool) {
	EachField(data, func(name string) bool { return name == field }, func(_ string, kind jsontext.Kind, text string) {
		held = kind != '{' && kind != '[' && kind != 'n' && text == value
	})
	return held
}

// FieldAmong reports whether an object has a text or a number in a top-level field that is
// one of some values; as HoldsField otherwise.
func FieldAmong(data, field string, values []string) (among bool) {
	EachField(data, func(name string) bool { return name == field }, func(_ string, kind jsontext.Kind, text string) {
		among = (kind == '"' || kind == '0') && slices.Contains(values, text)
	})
	return among
}

// holding adds the conditions on fields. A value that the databases do not take as a
// parameter can only be in a record that is looked at here.
func (f *filter) holding(data string, where []store.FieldValue) {
	for _, w := range where {
		var field, value any = w.Field, w.Value
		if !storable(w.Field, w.Value) {
			field, value = "", nil
		}
		f.add(`record_holds(`+data+`, ?, ?) IS NOT FALSE`, field, value)
	}
}

// possible reports whether any record can have the values: none has what is not UTF-8.
func possible(where []store.FieldValue) bool {
	for _, w := range where {
		if !utf8.ValidString(w.Field) || !utf8.ValidString(w.Value) {
			return false
		}
	}
	return true
}

// holds reports whether an object has every one of the values.
func holds(data []byte, where []store.FieldValue) bool {
	for _, w := range where {
		if !HoldsField(data, w.Field, w.Value) {
			return false
		}
	}
	return true
}

// readFields are the fields that a page has to read: those that it gives, and those that
// it is asked for by. Nil means all.
func readFields(given []string, where []store.FieldValue) []string {
	if given == nil {
		return nil
	}
	fields := given[:len(given):len(given)]
	for _, w := range where {
		fields = append(fields, w.Field)
	}
	return storableOnly(fields)
}

// storableOnly leaves out what no record has for a name or a key.
func storableOnly(texts []string) []string {
	kept := make([]string, 0, len(texts))
	for _, text := range texts {
		if storable(text) {
			kept = append(kept, text)
		}
	}
	return kept
}

// storable reports whether both databases can hold the texts. What they cannot
// hold is nowhere found, and PostgreSQL would refuse the very question.
func storable(texts ...string) bool {
	for _, text := range texts {
		if !utf8.ValidString(text) || strings.IndexByte(text, 0) >= 0 {
			return false
		}
	}
	return true
}
