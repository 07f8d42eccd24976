// Package rawjson reads JSON that is known to be valid. It copies nothing, so that one pass finds the members of an
// item.
package rawjson

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// SkipSpace returns the index of the first byte from i on that is not space.
func SkipSpace(b []byte, i int) int {
	for i < len(b) && isSpace(b[i]) {
		i++
	}
	return i
}

// skipString returns the index after the string that begins at i.
func skipString(b []byte, i int) int {
	for i++; i < len(b); {
		end := bytes.IndexByte(b[i:], '"')
		if end < 0 {
			return len(b)
		}
		i += end
		slashes := 0
		for b[i-1-slashes] == '\\' {
			slashes++
		}
		if i++; slashes%2 == 0 {
			return i
		}
	}
	return len(b)
}

// skipValue returns the index after the value that begins at i.
func skipValue(b []byte, i int) int {
	if i >= len(b) {
		return len(b)
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		for depth := 0; i < len(b); {
			switch b[i] {
			case '"':
				i = skipString(b, i)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
			i++
		}
		return i
	}
	for i < len(b) && b[i] != ',' && b[i] != '}' && b[i] != ']' && !isSpace(b[i]) {
		i++
	}
	return i
}

// EachMember calls f with the members of an object until f returns false. Another value has no members.
func EachMember(object []byte, f func(name, value []byte) bool) {
	i := SkipSpace(object, 0)
	if i >= len(object) || object[i] != '{' {
		return
	}
	for i++; ; i++ {
		if i = SkipSpace(object, i); i >= len(object) || object[i] != '"' {
			return
		}
		end := skipString(object, i)
		name := object[i+1 : end-1]
		if bytes.IndexByte(name, '\\') >= 0 {
			name, _ = jsontext.AppendUnquote(nil, object[i:end])
		}
		i = SkipSpace(object, end) + 1 // the colon
		i = SkipSpace(object, i)
		if end = skipValue(object, i); !f(name, object[i:end]) {
			return
		}
		if i = SkipSpace(object, end); i >= len(object) || object[i] != ',' {
			return
		}
	}
}

// EachElement calls f with the elements of a list until f returns false. Another value has no elements.
func EachElement(list []byte, f func(value []byte) bool) {
	i := SkipSpace(list, 0)
	if i >= len(list) || list[i] != '[' {
		return
	}
	for i++; ; i++ {
		if i = SkipSpace(list, i); i >= len(list) || list[i] == ']' {
			return
		}
		end := skipValue(list, i)
		if !f(list[i:end]) {
			return
		}
		if i = SkipSpace(list, end); i >= len(list) || list[i] != ',' {
			return
		}
	}
}

// MemberAt returns the member at a path of names. It returns nil if there is none.
func MemberAt(value jsontext.Value, path []string) jsontext.Value {
	for _, name := range path {
		var found []byte
		EachMember(value, func(n, v []byte) bool {
			if string(n) == name {
				found = v
				return false
			}
			return true
		})
		if value = found; found == nil {
			return nil
		}
	}
	return value
}

// ElementsOf returns the elements of a list, and false for another value.
func ElementsOf(list jsontext.Value) ([]jsontext.Value, bool) {
	if list.Kind() != '[' {
		return nil, false
	}
	out := []jsontext.Value{}
	EachElement(list, func(v []byte) bool {
		out = append(out, v)
		return true
	})
	return out, true
}

// TextOf returns a string without its quotes, or the text of a number. It returns false for another value.
func TextOf(v jsontext.Value) (string, bool) {
	switch v.Kind() {
	case '"':
		if bytes.IndexByte(v, '\\') < 0 {
			return string(v[1 : len(v)-1]), true
		}
		text, err := jsontext.AppendUnquote(nil, v)
		return string(text), err == nil
	case '0':
		return string(v), true
	}
	return "", false
}

// AppendCompact appends a value without the space between its tokens.
func AppendCompact(dst []byte, v []byte) []byte {
	switch v[0] {
	case '"':
		return append(dst, v...)
	case '{', '[':
	default:
		if c := v[0]; c == '-' || c >= '0' && c <= '9' {
			return AppendNumber(dst, v)
		}
		return append(dst, v...)
	}
	for i := 0; i < len(v); {
		switch c := v[i]; {
		case c == '"':
			end := skipString(v, i)
			dst = append(dst, v[i:end]...)
			i = end
		case isSpace(c):
			i++
		case c == '-' || c >= '0' && c <= '9':
			end := skipValue(v, i)
			dst = AppendNumber(dst, v[i:end])
			i = end
		default:
			dst = append(dst, c)
			i++
		}
	}
	return dst
}

// exactDigits is how many digits of a decimal number a float64 always keeps.
const exactDigits = 15

// AppendNumber appends a number. A whole number keeps its text, however long. One with a fraction or an exponent is
// written in its shortest form, if that loses nothing, so that 5.0 and 5 are the same record.
func AppendNumber(dst []byte, v []byte) []byte {
	if !bytes.ContainsAny(v, ".eE") || len(v) > exactDigits+2 {
		return append(dst, v...)
	}
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil {
		return append(dst, v...)
	}
	return append(dst, jsontext.Float(f).String()...)
}
