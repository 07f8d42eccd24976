package expression

import "github.com/go-json-experiment/json/jsontext"

// EachMember calls f for each member of an object that the caller knows to be valid JSON, until f returns false. Quoted
// is the name as it is written.
func EachMember(raw jsontext.Value, f func(quoted, value jsontext.Value) bool) {
	at := skipSpace(raw, 0)
	if at >= len(raw) || raw[at] != '{' {
		return
	}
	at = skipSpace(raw, at+1)
	for at < len(raw) && raw[at] == '"' {
		end := skipString(raw, at)
		quoted := raw[at:end]
		at = skipSpace(raw, end)
		if at < len(raw) && raw[at] == ':' {
			at = skipSpace(raw, at+1)
		}
		end = skipAny(raw, at)
		if !f(quoted, raw[at:end]) {
			return
		}
		at = skipComma(raw, end)
	}
}

// Elements returns the elements of a list that the caller knows to be valid JSON. They share the memory of raw.
func Elements(raw jsontext.Value) []jsontext.Value {
	at := skipSpace(raw, 0)
	if at >= len(raw) || raw[at] != '[' {
		return nil
	}
	out := []jsontext.Value{}
	at = skipSpace(raw, at+1)
	for at < len(raw) && raw[at] != ']' {
		end := skipAny(raw, at)
		out = append(out, raw[at:end:end])
		at = skipComma(raw, end)
	}
	return out
}

// IsName reports whether a quoted name is a text.
func IsName(quoted jsontext.Value, name string) bool {
	if len(quoted) == len(name)+2 && string(quoted[1:len(quoted)-1]) == name {
		return simpleString(quoted)
	}
	return !simpleString(quoted) && unquote(quoted) == name
}

// jsonSource is an object as JSON. A repeated name has its last value.
type jsonSource jsontext.Value

func (s jsonSource) ObjectJSON() jsontext.Value { return jsontext.Value(s) }

func (s jsonSource) MemberJSON(name string) (raw jsontext.Value, found bool) {
	EachMember(jsontext.Value(s), func(quoted, value jsontext.Value) bool {
		if IsName(quoted, name) {
			raw, found = value, true
		}
		return true
	})
	return raw, found
}

// skipAny returns the end of any value. It moves by at least one byte.
func skipAny(raw []byte, at int) int {
	if at >= len(raw) {
		return at
	}
	switch raw[at] {
	case '{', '[':
		return skipValue(raw, at)
	case '"':
		return skipString(raw, at)
	}
	return skipWord(raw, at)
}

func skipComma(raw []byte, at int) int {
	at = skipSpace(raw, at)
	if at < len(raw) && raw[at] == ',' {
		at = skipSpace(raw, at+1)
	}
	return at
}
