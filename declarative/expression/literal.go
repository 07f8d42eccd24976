package expression

import (
	"math/big"
	"strconv"
	"strings"
)

// maxBrackets is the greatest depth of brackets in a literal.
const maxBrackets = 200

// literalReader reads a Python literal.
type literalReader struct {
	text  string
	at    int
	depth int
}

// readLiteral returns the value of a Python literal: a number, a text in quotes, None, True, False, or a list, tuple,
// set or dictionary of them. The second result is false if the text is anything else. Bytes, complex numbers and
// ellipses count as text.
func readLiteral(text string) (Value, bool) {
	if !mayBeLiteral(text) || strings.IndexByte(text, 0) >= 0 {
		return Value{}, false
	}
	r := &literalReader{text: strings.TrimLeft(text, " \t")}
	if trimmed := strings.TrimLeft(r.text, "\n"); trimmed != r.text {
		if trimmed == "" || trimmed[0] == ' ' || trimmed[0] == '\t' {
			return Value{}, false
		}
		r.text = trimmed
	}
	v, ok := r.value()
	if !ok {
		return Value{}, false
	}
	if r.inlineSpace(); r.peek() == ',' {
		v, ok = r.openTuple(v)
	}
	return v, ok && r.atEnd()
}

// mayBeLiteral rejects most texts by their first character.
func mayBeLiteral(text string) bool {
	if text == "" {
		return false
	}
	switch c := text[0]; c {
	case '"', '\'', '(', '[', '{', '-', '+', '.', ' ', '\t', '\n', '#', '\\':
		return true
	case 'N':
		return strings.HasPrefix(text, "None")
	case 'T':
		return strings.HasPrefix(text, "True")
	case 'F':
		return strings.HasPrefix(text, "False")
	case 's':
		return strings.HasPrefix(text, "set")
	case 'r', 'R', 'u', 'U':
		return len(text) > 2 && (text[1] == '"' || text[1] == '\'')
	default:
		return c >= '0' && c <= '9'
	}
}

func (r *literalReader) peek() byte {
	if r.at < len(r.text) {
		return r.text[r.at]
	}
	return 0
}

// space skips white space, and inside brackets also lines and comments.
func (r *literalReader) space() {
	for r.at < len(r.text) {
		switch c := r.text[r.at]; {
		case c == ' ' || c == '\t' || c == '\f':
			r.at++
		case (c == '\n' || c == '\r') && r.depth > 0:
			r.at++
		case c == '#' && r.depth > 0:
			r.line()
		default:
			return
		}
	}
}

func (r *literalReader) inlineSpace() {
	for c := r.peek(); c == ' ' || c == '\t' || c == '\f'; c = r.peek() {
		r.at++
	}
}

func (r *literalReader) line() {
	for r.at < len(r.text) && r.text[r.at] != '\n' {
		r.at++
	}
}

// atEnd reports whether only empty lines and comments follow.
func (r *literalReader) atEnd() bool {
	for {
		r.inlineSpace()
		switch r.peek() {
		case '#':
			r.line()
		case '\n', '\r':
			r.at++
		default:
			return r.at == len(r.text)
		}
	}
}

func (r *literalReader) value() (Value, bool) {
	r.space()
	if r.depth > maxBrackets {
		return Value{}, false
	}
	switch c := r.peek(); {
	case c == '[':
		items, _, ok := r.items(']')
		return listOf(items, plainList), ok
	case c == '(':
		items, comma, ok := r.items(')')
		if ok && len(items) == 1 && !comma {
			return items[0], true
		}
		return listOf(items, tuple), ok
	case c == '{':
		return r.braces()
	case c == '"' || c == '\'' || (c == 'r' || c == 'R' || c == 'u' || c == 'U') && r.quoteFollows():
		return r.strings()
	case c == '-' || c == '+':
		r.at++
		r.space()
		v, ok := r.number()
		if ok && c == '-' {
			if v.kind == Float {
				return FloatValue(-v.float()), true
			}
			return bigValue(new(big.Int).Neg(v.bigInt())), true
		}
		return v, ok
	case c >= '0' && c <= '9' || c == '.':
		return r.number()
	}
	return r.word()
}

func (r *literalReader) quoteFollows() bool {
	return r.at+1 < len(r.text) && (r.text[r.at+1] == '"' || r.text[r.at+1] == '\'')
}

func (r *literalReader) word() (Value, bool) {
	end := r.at
	for end < len(r.text) && (isWordByte(r.text[end]) || r.text[end] >= 0x80) {
		end++
	}
	word := r.text[r.at:end]
	r.at = end
	switch word {
	case "None":
		return None, true
	case "True":
		return BoolValue(true), true
	case "False":
		return BoolValue(false), true
	case "set":
		if strings.HasPrefix(r.text[r.at:], "()") {
			r.at += 2
			return listOf(nil, set), true
		}
	}
	return Value{}, false
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// items reads the values in brackets. The second result reports whether a comma followed the last one.
func (r *literalReader) items(closing byte) ([]Value, bool, bool) {
	r.at++
	r.depth++
	var items []Value
	comma := false
	for {
		if r.space(); r.peek() == closing {
			r.at++
			r.depth--
			return items, comma, true
		}
		if len(items) > 0 && !comma {
			return nil, false, false
		}
		v, ok := r.value()
		if !ok {
			return nil, false, false
		}
		items = append(items, v)
		if r.space(); r.peek() == ',' {
			r.at++
			comma = true
		} else {
			comma = false
		}
	}
}

// openTuple reads the rest of a tuple without brackets.
func (r *literalReader) openTuple(first Value) (Value, bool) {
	items := []Value{first}
	for r.peek() == ',' {
		r.at++
		r.inlineSpace()
		if c := r.peek(); c == 0 || c == '\n' || c == '#' {
			break
		}
		v, ok := r.value()
		if !ok {
			return Value{}, false
		}
		items = append(items, v)
		r.inlineSpace()
	}
	return listOf(items, tuple), true
}

// braces reads a dictionary or a set.
func (r *literalReader) braces() (Value, bool) {
	r.at++
	r.depth++
	m := &members{}
	var items []Value
	isSet := false
	for first := true; ; first = false {
		if r.space(); r.peek() == '}' {
			break
		}
		key, ok := r.value()
		if !ok {
			return Value{}, false
		}
		name, ok := encodeKey(key)
		if !ok {
			return Value{}, false
		}
		r.space()
		colon := r.peek() == ':'
		if !first && colon == isSet {
			return Value{}, false
		}
		if colon {
			r.at++
			value, ok := r.value()
			if !ok {
				return Value{}, false
			}
			m.put(name, value)
		} else {
			isSet = true
			if found, _ := contains(listOf(items, set), key); !found {
				items = append(items, key)
			}
		}
		if r.space(); r.peek() == ',' {
			r.at++
		} else if r.peek() != '}' {
			return Value{}, false
		}
	}
	r.at++
	r.depth--
	if isSet {
		return listOf(items, set), true
	}
	return Value{kind: Object, ref: m}, true
}

// strings reads texts in quotes that follow each other.
func (r *literalReader) strings() (Value, bool) {
	var b strings.Builder
	for {
		raw := false
		if c := r.peek(); c != '"' && c != '\'' {
			raw = c == 'r' || c == 'R'
			r.at++
		}
		text, ok := r.quoted()
		if !ok {
			return Value{}, false
		}
		if !raw {
			if text, ok = unescapeLiteral(text); !ok {
				return Value{}, false
			}
		}
		b.WriteString(text)
		r.space()
		c := r.peek()
		if c != '"' && c != '\'' && !((c == 'r' || c == 'R' || c == 'u' || c == 'U') && r.quoteFollows()) {
			return StringValue(b.String()), true
		}
	}
}

func (r *literalReader) quoted() (string, bool) {
	mark := r.text[r.at : r.at+1]
	if triple := mark + mark + mark; strings.HasPrefix(r.text[r.at:], triple) {
		mark = triple
	}
	start := r.at + len(mark)
	for i := start; i < len(r.text); i++ {
		switch {
		case r.text[i] == '\\':
			i++
		case r.text[i] == '\n' && len(mark) == 1:
			return "", false
		case strings.HasPrefix(r.text[i:], mark):
			r.at = i + len(mark)
			return r.text[start:i], true
		}
	}
	return "", false
}

// unescapeLiteral decodes escapes and joins the two halves of a character that JSON writes as \ud83d\ude00.
func unescapeLiteral(text string) (string, bool) {
	if strings.Contains(text, `\ud`) || strings.Contains(text, `\uD`) {
		text = joinSurrogates(text)
	}
	return unescape(text)
}

func joinSurrogates(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		high, ok := surrogate(text[i:], 0xd800)
		low, both := 0, false
		if ok {
			low, both = surrogate(text[i+6:], 0xdc00)
		}
		if both {
			b.WriteRune(rune((high-0xd800)<<10 + (low - 0xdc00) + 0x10000))
			i += 12
			continue
		}
		if text[i] == '\\' && i+1 < len(text) && !ok {
			b.WriteString(text[i : i+2])
			i += 2
			continue
		}
		b.WriteByte(text[i])
		i++
	}
	return b.String()
}

func surrogate(text string, base int) (int, bool) {
	if len(text) < 6 || text[:2] != `\u` {
		return 0, false
	}
	n, err := strconv.ParseUint(text[2:6], 16, 32)
	return int(n), err == nil && int(n) >= base && int(n) < base+0x400
}
