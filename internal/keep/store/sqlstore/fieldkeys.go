package sqlstore

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/keep/store"
)

// The functions below are what fields of records are compared, grouped and summed up by.
// SQLite calls them as record_text, record_number and record_time; PostgreSQL has the same
// as functions of its own. Indexes hold what they give, so that whoever changes one of
// them changes keyVersion too.

// KeyOfText is a text by what it says, and a number or a boolean by how it is written, up
// to store.LongestText characters. What PostgreSQL cannot hold reads as U+FFFD.
func KeyOfText(data, field string) (key string, ok bool) {
	eachValue(data, field, func(kind jsontext.Kind, text string) {
		if ok = kind != '{' && kind != '[' && kind != 'n'; ok {
			key = store.CutText(strings.ReplaceAll(text, "\x00", "\uFFFD"))
		}
	})
	return key, ok
}

// KeyOfNumber is a number by its double-precision value.
func KeyOfNumber(data, field string) (key float64, ok bool) {
	eachValue(data, field, func(kind jsontext.Kind, text string) {
		if ok = kind == '0'; ok {
			key, ok = store.ParseNumber(text)
		}
	})
	return key, ok
}

// KeyOfTime is a time in microseconds since 1970.
func KeyOfTime(data, field string) (key float64, ok bool) {
	eachValue(data, field, func(kind jsontext.Kind, text string) {
		if ok = kind == '"'; ok {
			key, ok = store.ParseInstant(text)
		}
	})
	return key, ok
}

func eachValue(data, field string, use func(kind jsontext.Kind, text string)) {
	EachField(data, func(name string) bool { return name == field }, func(_ string, kind jsontext.Kind, text string) { use(kind, text) })
}
