package recordfields

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// The functions below compute the keys by which fields are compared, grouped and summed. SQLite calls them as
// record_text, record_number and record_time; PostgreSQL has equivalent SQL functions. Indexes store their results,
// so a change to one of them must change keyVersion in sqlstore.

// KeyOfText returns a text by content, and a number or boolean as written, up to store.MaxTextLength characters.
// Characters that PostgreSQL cannot store become U+FFFD.
func KeyOfText(data, field string) (key string, ok bool) {
	eachFieldValue(data, field, func(kind jsontext.Kind, text string) {
		if ok = kind != '{' && kind != '[' && kind != 'n'; ok {
			key = store.TruncateText(strings.ReplaceAll(text, "\x00", "\uFFFD"))
		}
	})
	return key, ok
}

// KeyOfNumber returns a number in double precision.
func KeyOfNumber(data, field string) (key float64, ok bool) {
	eachFieldValue(data, field, func(kind jsontext.Kind, text string) {
		if ok = kind == '0'; ok {
			key, ok = store.ParseNumber(text)
		}
	})
	return key, ok
}

// KeyOfTime returns a time in microseconds since 1970.
func KeyOfTime(data, field string) (key float64, ok bool) {
	eachFieldValue(data, field, func(kind jsontext.Kind, text string) {
		if ok = kind == '"'; ok {
			key, ok = store.ParseInstant(text)
		}
	})
	return key, ok
}

func eachFieldValue(data, field string, use func(kind jsontext.Kind, text string)) {
	EachField(data, func(name string) bool { return name == field },
		func(_ string, kind jsontext.Kind, text string) { use(kind, text) })
}
