package redact

import (
	"bytes"
	"cmp"
	"html"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// minKnown is the shortest known value that is removed: shorter ones would
// blank out ordinary words.
const minKnown = 4

// maxLayers is how many encodings deep a known value is looked for: base64 of a header, escaped
// in a URL, in a line of JSON.
const maxLayers = 3

// textRange is a part of a text, by bytes.
type textRange struct{ from, to int }

// decodedText is a text with an encoding undone. Byte i represents the part of the original text from from[i] to to[i].
type decodedText struct {
	text     []byte
	from, to []int
}

// Known removes only the known values, for text with a shape that must stay. It finds them unencoded and in common
// encodings: percent and backslash escapes, HTML entities, hexadecimal, and base64 at any offset.
func (r *Redactor) Known(s string) string {
	if len(r.known) == 0 || len(s) < minKnown {
		return s
	}
	var found []textRange
	for _, v := range r.known {
		found = appendMatches(found, []byte(s), v, nil)
	}
	plain := &decodedText{text: []byte(s)}
	r.search(plain, maxLayers, &found)
	return blank(s, found)
}

// search looks at a text through every encoding, and through those again.
func (r *Redactor) search(t *decodedText, layers int, found *[]textRange) {
	if layers == 0 || len(t.text) < minKnown {
		return
	}
	look := func(next *decodedText, layers int) {
		if next == nil {
			return
		}
		for _, v := range r.known {
			*found = appendMatches(*found, next.text, v, next)
		}
		r.search(next, layers, found)
	}
	for _, kind := range escapes {
		look(unescaped(t, kind), layers-1)
	}
	// What was decoded from bits is as a rule no text of that kind itself.
	for skip := range 2 {
		look(fromHex(t, skip), min(layers-1, 1))
	}
	for skip := range 4 {
		look(fromBase64(t, skip), min(layers-1, 1))
	}
}

// appendMatches adds the positions of v in text, as positions in the original.
func appendMatches(found []textRange, text, v []byte, t *decodedText) []textRange {
	for at := 0; ; at++ {
		i := bytes.Index(text[at:], v)
		if i < 0 {
			return found
		}
		at += i
		if t == nil {
			found = append(found, textRange{at, at + len(v)})
		} else {
			found = append(found, textRange{t.from[at], t.to[at+len(v)-1]})
		}
	}
}

// blank puts a mark in the place of each part; parts that touch become one.
func blank(s string, parts []textRange) string {
	if len(parts) == 0 {
		return s
	}
	slices.SortFunc(parts, func(a, b textRange) int { return cmp.Compare(a.from, b.from) })
	var out strings.Builder
	at := 0
	for i := 0; i < len(parts); {
		p := parts[i]
		for i++; i < len(parts) && parts[i].from <= p.to; i++ {
			p.to = max(p.to, parts[i].to)
		}
		out.WriteString(s[at:p.from])
		out.WriteString(Mark)
		at = p.to
	}
	out.WriteString(s[at:])
	return out.String()
}

// origin returns the part of the original that bytes i to j of t represent.
func (t *decodedText) origin(i, j int) (from, to int) {
	if t.from == nil {
		return i, j
	}
	return t.from[i], t.to[j-1]
}

func (t *decodedText) add(b byte, from, to int) {
	t.text, t.from, t.to = append(t.text, b), append(t.from, from), append(t.to, to)
}

// escapes are kinds of escapes, each by the characters that begin one. A text is read by one kind
// at a time: what looks like an escape of another may be a part of the secret.
var escapes = []string{"%", "%+", `\`, "&"}

// unescaped undoes the escapes of a kind; nil when there are none.
func unescaped(t *decodedText, kind string) *decodedText {
	if !bytes.ContainsAny(t.text, kind) {
		return nil
	}
	out := &decodedText{}
	changed := false
	for i := 0; i < len(t.text); {
		decoded, n := t.text[i:i+1], 0
		if strings.IndexByte(kind, t.text[i]) >= 0 {
			decoded, n = escape(t.text[i:])
			changed = changed || n > 0
		}
		if n == 0 {
			decoded, n = t.text[i:i+1], 1
		}
		from, to := t.origin(i, i+n)
		for _, b := range decoded {
			out.add(b, from, to)
		}
		i += n
	}
	if !changed {
		return nil
	}
	return out
}

var shortEscapes = map[byte]byte{'n': '\n', 'r': '\r', 't': '\t', 'b': '\b', 'f': '\f', '"': '"', '\'': '\'', '/': '/',
	'\\': '\\'}

// maxEntity is the length of the longest entity that is looked at, such as &#x0022;.
const maxEntity = 10

// escape reads the escape that s begins with; n is zero when it begins with none.
func escape(s []byte) (decoded []byte, n int) {
	switch s[0] {
	case '+':
		return []byte{' '}, 1
	case '%':
		if v, ok := number(s, 1, 2); ok {
			return []byte{byte(v)}, 3
		}
	case '\\':
		return backslashed(s)
	case '&':
		end := bytes.IndexByte(s[:min(len(s), maxEntity)], ';')
		if end < 0 {
			return nil, 0
		}
		entity := string(s[:end+1])
		if text := html.UnescapeString(entity); text != entity {
			return []byte(text), end + 1
		}
	}
	return nil, 0
}

func backslashed(s []byte) (decoded []byte, n int) {
	if len(s) < 2 {
		return nil, 0
	}
	if b, ok := shortEscapes[s[1]]; ok {
		return []byte{b}, 2
	}
	if v, ok := number(s, 2, 2); ok && s[1] == 'x' {
		return []byte{byte(v)}, 4
	}
	if v, ok := number(s, 2, 4); ok && s[1] == 'u' {
		return utf8.AppendRune(nil, v), 6
	}
	return nil, 0
}

// number reads hexadecimal digits.
func number(s []byte, skip, digits int) (rune, bool) {
	if len(s) < skip+digits {
		return 0, false
	}
	v, err := strconv.ParseUint(string(s[skip:skip+digits]), 16, 32)
	return rune(v), err == nil
}

// fromHex undoes hexadecimal, with or without single separators, skipping so many digits at
// the beginning of each run; nil when nothing long enough is there.
func fromHex(t *decodedText, skip int) *decodedText {
	return fromDigits(t, skip, 4, hexDigit, func(b byte) bool { return b == ' ' || b == ':' || b == '-' || b == ',' })
}

// fromBase64 undoes base64 of either alphabet, folded into lines or not.
func fromBase64(t *decodedText, skip int) *decodedText {
	return fromDigits(t, skip, 6, base64Digit, func(b byte) bool { return b == '\n' || b == '\r' })
}

// fromDigits decodes runs of digits with so many bits each. A line break separates the runs, so that nothing matches
// across them.
func fromDigits(t *decodedText, skip, bits int, digit func(byte) int, between func(byte) bool) *decodedText {
	out := &decodedText{}
	var held uint32
	var have, skipped int
	start := make([]int, 0, 4) // where the digits that hold a byte begin
	run := 0
	for i, b := range t.text {
		d := digit(b)
		if d < 0 {
			if between(b) && run > 0 && i+1 < len(t.text) && digit(t.text[i+1]) >= 0 {
				continue
			}
			if run > 0 && len(out.text) > 0 {
				from, to := t.origin(i, i+1)
				out.add('\n', from, to)
			}
			held, have, skipped, run, start = 0, 0, 0, 0, start[:0]
			continue
		}
		run++
		if skipped < skip {
			skipped++
			continue
		}
		start = append(start, i)
		held, have = held<<bits|uint32(d), have+bits
		if have >= 8 {
			have -= 8
			from, _ := t.origin(start[0], start[0]+1)
			_, to := t.origin(i, i+1)
			out.add(byte(held>>have), from, to)
			if start = start[:0]; have > 0 {
				start = append(start, i) // its last digit begins the next byte
			}
		}
	}
	if len(out.text) < minKnown {
		return nil
	}
	return out
}

func hexDigit(b byte) int {
	switch {
	case b >= '0' && b <= '9':
		return int(b - '0')
	case b >= 'a' && b <= 'f':
		return int(b-'a') + 10
	case b >= 'A' && b <= 'F':
		return int(b-'A') + 10
	default:
		return -1
	}
}

func base64Digit(b byte) int {
	switch {
	case b >= 'A' && b <= 'Z':
		return int(b - 'A')
	case b >= 'a' && b <= 'z':
		return int(b-'a') + 26
	case b >= '0' && b <= '9':
		return int(b-'0') + 52
	case b == '+' || b == '-':
		return 62
	case b == '/' || b == '_':
		return 63
	default:
		return -1
	}
}
