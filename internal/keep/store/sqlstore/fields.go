package sqlstore

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// EachField hands over the wanted members of a JSON object: a string's text, and
// everything else as it is written. An object that does not parse ends early.
//
// It is what an index on a field is made by, and what every record is looked through by where
// there is none: an object is walked from one quote to the next, in a fraction of the time of a
// decoder, which sees to what is not plain. The texts of the members that nobody wants are not
// looked into, so that a fault in one of them, which nothing that is stored has, goes unnoticed.
func EachField[T ~string | ~[]byte](data T, wanted func(name string) bool, use func(name string, kind jsontext.Kind, text string)) {
	w := walk{data: string(data), wanted: wanted}
	w.met = w.few[:0]
	if !w.object() {
		decodeFields([]byte(data), wanted, use)
		return
	}
	for _, m := range w.met {
		use(m.name, m.kind, m.text)
	}
}

// decodeFields is EachField for whatever there is.
func decodeFields(data []byte, wanted func(name string) bool, use func(name string, kind jsontext.Kind, text string)) {
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

// walk goes through an object that is plainly written: every method reports whether it met what it
// expects, and leaves the place behind it.
type walk struct {
	data   string
	at     int
	wanted func(name string) bool
	met    []member
	few    [2]member // where those that are met are kept, if there are no more
}

type member struct {
	name string
	kind jsontext.Kind
	text string
}

// deepest is how far values may be nested in each other for a walk.
const deepest = 64

func (w *walk) object() bool {
	if w.space(); !w.is('{') {
		return false
	}
	if w.space(); w.is('}') {
		return true
	}
	for {
		name, ok := w.text()
		if !ok || !plain(name) {
			return false
		}
		if w.space(); !w.is(':') {
			return false
		}
		w.space()
		begin := w.at
		if begin >= len(w.data) {
			return false
		}
		wanted, kind := w.wanted(name), jsontext.Kind(w.data[begin])
		switch {
		case wanted && kind == '"':
			said, ok := w.text()
			if ok && !plain(said) {
				unquoted, err := jsontext.AppendUnquote(nil, w.data[begin:w.at])
				said, ok = string(unquoted), err == nil
			}
			if !ok {
				return false
			}
			w.met = append(w.met, member{name, kind, said})
		case !w.value(deepest):
			return false
		case wanted:
			if kind == '-' || kind >= '1' && kind <= '9' {
				kind = '0'
			}
			w.met = append(w.met, member{name, kind, w.data[begin:w.at]})
		}
		if w.space(); w.is('}') {
			return true
		}
		if !w.is(',') {
			return false
		}
		w.space()
	}
}

// is goes past a byte, if it is the next one.
func (w *walk) is(b byte) bool {
	if w.at < len(w.data) && w.data[w.at] == b {
		w.at++
		return true
	}
	return false
}

func (w *walk) space() {
	for w.at < len(w.data) && (w.data[w.at] == ' ' || w.data[w.at] == '\t' || w.data[w.at] == '\n' || w.data[w.at] == '\r') {
		w.at++
	}
}

// text is a string, of which raw is what stands between the quotes.
func (w *walk) text() (raw string, ok bool) {
	if !w.is('"') {
		return "", false
	}
	begin := w.at
	for {
		n := strings.IndexByte(w.data[w.at:], '"')
		if n < 0 {
			return "", false
		}
		w.at += n + 1
		end := w.at - 1
		escapes := 0
		for end-escapes > begin && w.data[end-escapes-1] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return w.data[begin:end], true
		}
	}
}

// plain reports whether a string says what stands between its quotes.
func plain(raw string) bool { return strings.IndexByte(raw, '\\') < 0 && utf8.ValidString(raw) }

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

// value is any value, with others nested up to so deep.
func (w *walk) value(deep int) bool {
	if w.at >= len(w.data) || deep == 0 {
		return false
	}
	switch b := w.data[w.at]; b {
	case '"':
		_, ok := w.text()
		return ok
	case '{', '[':
		return w.nested(b, deep)
	case 't':
		return w.literal("true")
	case 'f':
		return w.literal("false")
	case 'n':
		return w.literal("null")
	}
	return w.number()
}

// nested is an object or a list.
func (w *walk) nested(open byte, deep int) bool {
	end := open + 2 // the brackets of both kinds stand two apart
	w.at++
	if w.space(); w.is(end) {
		return true
	}
	for {
		if open == '{' {
			if _, ok := w.text(); !ok {
				return false
			}
			if w.space(); !w.is(':') {
				return false
			}
			w.space()
		}
		if !w.value(deep - 1) {
			return false
		}
		if w.space(); w.is(end) {
			return true
		}
		if !w.is(',') {
			return false
		}
		w.space()
	}
}

func (w *walk) literal(word string) bool {
	if !strings.HasPrefix(w.data[w.at:], word) {
		return false
	}
	w.at += len(word)
	return true
}

func (w *walk) number() bool {
	w.is('-')
	if !w.is('0') && !w.digits() {
		return false
	}
	if w.is('.') && !w.digits() {
		return false
	}
	if w.is('e') || w.is('E') {
		if !w.is('+') {
			w.is('-')
		}
		return w.digits()
	}
	return true
}

// digits are one or more of them.
func (w *walk) digits() bool {
	begin := w.at
	for w.at < len(w.data) && isDigit(w.data[w.at]) {
		w.at++
	}
	return w.at > begin
}
