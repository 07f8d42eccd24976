// Package recordfields reads top-level fields of a record's JSON object: it finds members, compares their values, and
// computes the keys by which fields are indexed.
package recordfields

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// EachField calls use for the wanted members of a JSON object: strings decoded, everything else as written. It stops
// at a syntax error.
//
// Field indexes are built with it, and scans without an index use it for every record. So it scans from quote to
// quote, much faster than a decoder, and leaves unusual input to the decoder. It does not validate the text of
// unwanted members; stored data is always valid.
func EachField[T ~string | ~[]byte](
	data T, wanted func(name string) bool, use func(name string, kind jsontext.Kind, text string),
) {
	w := fieldScanner{data: string(data), wanted: wanted}
	w.met = w.few[:0]
	if !w.object() {
		decodeFields([]byte(data), wanted, use)
		return
	}
	for _, m := range w.met {
		use(m.name, m.kind, m.text)
	}
}

// decodeFields is EachField for any input, with a decoder.
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

// fieldScanner scans a plainly written object. Every method reports whether it found what it expects, and moves past
// it.
type fieldScanner struct {
	data   string
	at     int
	wanted func(name string) bool
	met    []objectMember
	few    [2]objectMember // storage for the first members
}

type objectMember struct {
	name string
	kind jsontext.Kind
	text string
}

// maxNesting is the deepest nesting that the scanner accepts.
const maxNesting = 64

func (w *fieldScanner) object() bool {
	if w.space(); !w.is('{') {
		return false
	}
	if w.space(); w.is('}') {
		return true
	}
	for {
		name, ok := w.text()
		if !ok || !isPlainText(name) {
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
			message, ok := w.text()
			if ok && !isPlainText(message) {
				unquoted, err := jsontext.AppendUnquote(nil, w.data[begin:w.at])
				message, ok = string(unquoted), err == nil
			}
			if !ok {
				return false
			}
			w.met = append(w.met, objectMember{name, kind, message})
		case !w.value(maxNesting):
			return false
		case wanted:
			if kind == '-' || kind >= '1' && kind <= '9' {
				kind = '0'
			}
			w.met = append(w.met, objectMember{name, kind, w.data[begin:w.at]})
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

// is moves past a byte, if it is the next one.
func (w *fieldScanner) is(b byte) bool {
	if w.at < len(w.data) && w.data[w.at] == b {
		w.at++
		return true
	}
	return false
}

func (w *fieldScanner) space() {
	for w.at < len(w.data) && (w.data[w.at] == ' ' || w.data[w.at] == '\t' || w.data[w.at] == '\n' ||
		w.data[w.at] == '\r') {
		w.at++
	}
}

// text scans a string; raw is what is between the quotes.
func (w *fieldScanner) text() (raw string, ok bool) {
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

// isPlainText reports whether a string contains no escapes.
func isPlainText(raw string) bool { return strings.IndexByte(raw, '\\') < 0 && utf8.ValidString(raw) }

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

// value scans any value, with limited nesting.
func (w *fieldScanner) value(deep int) bool {
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

// nested scans an object or an array.
func (w *fieldScanner) nested(open byte, deep int) bool {
	end := open + 2 // the code of a closing bracket is two above the opening one
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

func (w *fieldScanner) literal(word string) bool {
	if !strings.HasPrefix(w.data[w.at:], word) {
		return false
	}
	w.at += len(word)
	return true
}

func (w *fieldScanner) number() bool {
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

// digits scans one or more digits.
func (w *fieldScanner) digits() bool {
	begin := w.at
	for w.at < len(w.data) && isDigit(w.data[w.at]) {
		w.at++
	}
	return w.at > begin
}
