package sqlstore

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"pdpp/internal/store"
)

// Fields are compared here and not in the database. The two databases read JSON
// differently: SQLite does not keep a number as it was written, and PostgreSQL
// refuses some valid text, so that one odd record would fail the whole page. The
// statement only leaves out most of what cannot match.

// maxHint bounds the texts that a statement looks for.
const maxHint = 1000

// mayHold leaves out records in whose text a value does not occur. It stands there
// as it is unless the text has escapes.
func (f *filter) mayHold(data string, where []store.FieldValue, d Dialect) {
	for _, w := range where {
		if plain(w.Value) {
			f.add(`(`+d.Holds(data)+` OR `+d.Holds(data)+`)`, w.Value, `\`)
		}
	}
}

// plain reports whether JSON may write the text without escapes, and both
// databases take it for a parameter.
func plain(text string) bool {
	return text != "" && len(text) <= maxHint && utf8.ValidString(text) &&
		!strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' })
}

// holds reports whether an object has every one of the values.
func holds(data []byte, where []store.FieldValue) bool {
	met := make([]bool, len(where))
	wanted := func(name string) bool {
		return slices.ContainsFunc(where, func(w store.FieldValue) bool { return w.Field == name })
	}
	EachField(data, wanted, func(name string, kind jsontext.Kind, text string) {
		if kind == '{' || kind == '[' || kind == 'n' {
			return
		}
		for i, w := range where {
			met[i] = met[i] || w.Field == name && w.Value == text
		}
	})
	return !slices.Contains(met, false)
}
