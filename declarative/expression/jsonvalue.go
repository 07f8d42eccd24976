package expression

import (
	"bytes"
	"errors"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

var errJSON = errors.New("the text is not valid JSON")

// ParseJSON returns the value of a JSON text. Integers keep all their digits.
func ParseJSON(raw jsontext.Value) (Value, error) {
	if !raw.IsValid() {
		return Value{}, errJSON
	}
	v, _ := scanValue(raw, skipSpace(raw, 0), true)
	return v, nil
}

// LazyJSON returns the value of a JSON text that the caller knows to be valid. Objects are expanded level by level,
// when a template reads them, so the Value must not be shared between goroutines. The caller must not change raw.
func LazyJSON(raw jsontext.Value) Value {
	at := skipSpace(raw, 0)
	if at >= len(raw) {
		return None
	}
	if raw[at] == '{' {
		return LazyObject(jsonSource(raw[at:]))
	}
	v, _ := scanValue(raw, at, false)
	return v
}

// ObjectSource is an object that was read elsewhere. It must not change while a template reads it.
type ObjectSource interface {
	MemberJSON(name string) (raw jsontext.Value, found bool)
	ObjectJSON() jsontext.Value
}

// LazyObject is LazyJSON for an object that was read elsewhere.
func LazyObject(source ObjectSource) Value {
	return Value{kind: Object, ref: &members{source: source}}
}

// scanValue reads the value that starts at raw[at] and returns the position after it. In an invalid text it returns
// some value and never reads past the end.
func scanValue(raw []byte, at int, whole bool) (Value, int) {
	if at >= len(raw) {
		return None, at
	}
	switch raw[at] {
	case '{':
		end := skipValue(raw, at)
		m := &members{raw: raw[at:end]}
		if whole {
			m.expandJSON(true)
		}
		return Value{kind: Object, ref: m}, end
	case '[':
		return scanArray(raw, at, whole)
	case '"':
		end := skipString(raw, at)
		return StringValue(unquote(raw[at:end])), end
	case 't':
		return BoolValue(true), skipWord(raw, at)
	case 'f':
		return BoolValue(false), skipWord(raw, at)
	case 'n':
		return None, skipWord(raw, at)
	}
	end := skipWord(raw, at)
	return scanNumber(raw[at:end]), end
}

func scanArray(raw []byte, at int, whole bool) (Value, int) {
	end := skipValue(raw, at)
	l := &list{}
	for _, element := range Elements(raw[at:end]) {
		item, _ := scanValue(element, 0, whole)
		l.items = append(l.items, item)
	}
	return Value{kind: Array, ref: l}, end
}

func scanNumber(text []byte) Value {
	for _, c := range text {
		if c == '.' || c == 'e' || c == 'E' {
			f, _ := strconv.ParseFloat(string(text), 64)
			return FloatValue(f)
		}
	}
	v, ok := digitsValue(string(text))
	if !ok {
		return None
	}
	return v
}

// expand reads the members of an object from its JSON text.
func (m *members) expand() {
	if m.source != nil {
		m.raw, m.source = m.source.ObjectJSON(), nil
	}
	if m.raw != nil {
		m.expandJSON(false)
	}
}

func (m *members) expandJSON(whole bool) {
	raw := m.raw
	m.raw = nil
	EachMember(raw, func(quoted, value jsontext.Value) bool {
		v, _ := scanValue(value, 0, whole)
		m.put(textKey(unquote(quoted)), v)
		return true
	})
}

func unquote(quoted []byte) string {
	if len(quoted) >= 2 && simpleString(quoted) {
		return string(quoted[1 : len(quoted)-1])
	}
	text, _ := jsontext.AppendUnquote(nil, quoted)
	return string(text)
}

func simpleString(quoted []byte) bool { return bytes.IndexByte(quoted, '\\') < 0 }

func skipSpace(raw []byte, at int) int {
	for at < len(raw) && (raw[at] == ' ' || raw[at] == '\n' || raw[at] == '\t' || raw[at] == '\r') {
		at++
	}
	return at
}

func skipString(raw []byte, at int) int {
	for i := at + 1; i < len(raw); {
		end := bytes.IndexByte(raw[i:], '"')
		if end < 0 {
			return len(raw)
		}
		end += i
		escape := end
		for escape > i && raw[escape-1] == '\\' {
			escape--
		}
		i = end + 1
		if (end-escape)%2 == 0 {
			return i
		}
	}
	return len(raw)
}

// skipWord returns the end of a number or keyword. It moves by at least one byte.
func skipWord(raw []byte, at int) int {
	for i := at; i < len(raw); i++ {
		switch raw[i] {
		case ',', ']', '}', ' ', '\n', '\t', '\r', ':':
			return max(i, at+1)
		}
	}
	return len(raw)
}

func skipValue(raw []byte, at int) int {
	depth := 0
	for at < len(raw) {
		switch raw[at] {
		case '{', '[':
			depth++
			at++
		case '}', ']':
			depth--
			at++
		case '"':
			at = skipString(raw, at)
		default:
			at++
		}
		if depth == 0 {
			return at
		}
	}
	return len(raw)
}

// AppendJSON appends v as JSON. Undefined becomes null, and times and durations become their printed text.
func (v Value) AppendJSON(b []byte) []byte {
	switch v.kind {
	case Undefined, Null:
		return append(b, "null"...)
	case Bool:
		return strconv.AppendBool(b, v.num != 0)
	case Int:
		return append(b, printText(v)...)
	case Float:
		if f := v.float(); f-f != 0 {
			return append(b, "null"...)
		}
		return append(b, printText(v)...)
	case Array:
		b = append(b, '[')
		for i, item := range v.ref.(*list).items {
			if i > 0 {
				b = append(b, ',')
			}
			b = item.AppendJSON(b)
		}
		return append(b, ']')
	case Object:
		b = append(b, '{')
		first := true
		v.Each(func(name string, member Value) bool {
			if !first {
				b = append(b, ',')
			}
			first = false
			b = append(appendQuoted(b, name), ':')
			b = member.AppendJSON(b)
			return true
		})
		return append(b, '}')
	}
	return appendQuoted(b, printText(v))
}

func appendQuoted(b []byte, text string) []byte {
	quoted, err := jsontext.AppendQuote(b, text)
	if err != nil { // invalid UTF-8, replaced in quoted
		return quoted
	}
	return quoted
}
