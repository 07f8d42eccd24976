package wire

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/pdpp-go/pdpp/protocol"
)

// propertyOrderer rewrites JSON in JavaScript property order in one pass over its bytes. It handles only texts in
// which nothing changes but the order of members and the space between them. It rejects numbers and escapes that
// have to be respelled, and invalid JSON. It reuses its memory.
type propertyOrderer struct {
	raw     []byte
	i       int
	out     []byte
	members []propertyOrderMember // of the objects that are open
	spare   []byte
}

// propertyOrderMember is the place of a member in out.
type propertyOrderMember struct{ from, name, to int }

// append appends a value to dst in JavaScript property order. It returns false for a value that it rejects.
func (o *propertyOrderer) append(dst, raw []byte) ([]byte, bool) {
	o.raw, o.i, o.out, o.members = raw, 0, dst, o.members[:0]
	o.space()
	good := o.value(protocol.MaxDepth)
	o.space()
	good = good && o.i == len(raw)
	out := o.out
	o.raw, o.out = nil, nil
	return out, good
}

func (o *propertyOrderer) space() {
	for o.i < len(o.raw) {
		switch o.raw[o.i] {
		case ' ', '\t', '\n', '\r':
			o.i++
		default:
			return
		}
	}
}

// next skips an expected byte and the space around it.
func (o *propertyOrderer) next(c byte) bool {
	o.space()
	if o.i >= len(o.raw) || o.raw[o.i] != c {
		return false
	}
	o.i++
	o.space()
	o.out = append(o.out, c)
	return true
}

func (o *propertyOrderer) value(depth int) bool {
	if o.i >= len(o.raw) || depth == 0 {
		return false
	}
	switch o.raw[o.i] {
	case '"':
		return o.text()
	case '{':
		return o.object(depth)
	case '[':
		return o.list(depth)
	case 't':
		return o.word("true")
	case 'f':
		return o.word("false")
	case 'n':
		return o.word("null")
	}
	return o.number()
}

func (o *propertyOrderer) word(word string) bool {
	if !bytes.HasPrefix(o.raw[o.i:], []byte(word)) {
		return false
	}
	o.i += len(word)
	o.out = append(o.out, word...)
	return true
}

// number accepts a number that is already in its canonical spelling.
func (o *propertyOrderer) number() bool {
	start := o.i
	whole := true
	for ; o.i < len(o.raw); o.i++ {
		c := o.raw[o.i]
		if c >= '0' && c <= '9' || c == '-' && o.i == start {
			continue
		}
		if c != '.' {
			break
		}
		whole = false
	}
	text := o.raw[start:o.i]
	o.out = append(o.out, text...)
	digits := bytes.TrimPrefix(text, []byte("-"))
	switch {
	case len(digits) == 0:
		return false
	case digits[0] == '0' && whole:
		return len(text) == 1
	case whole && len(digits) <= 15:
		return true
	}
	f, err := strconv.ParseFloat(string(text), 64)
	if size := max(f, -f); err != nil || size < 1e-6 || size >= 1e21 {
		return false
	}
	var again [32]byte
	return bytes.Equal(strconv.AppendFloat(again[:0], f, 'f', -1, 64), text)
}

// text takes one in which nothing is escaped that need not be.
func (o *propertyOrderer) text() bool {
	start, ascii := o.i, true
	for at := start + 1; ; {
		end, plain := protocol.TextStop(o.raw, at)
		if ascii = ascii && plain; end == len(o.raw) {
			return false
		}
		switch o.raw[end] {
		case '"':
			o.i = end + 1
			text := o.raw[start:o.i]
			o.out = append(o.out, text...)
			return ascii || utf8.Valid(text)
		case '\\':
			n := plainEscape(o.raw[end:])
			if at = end + n; n == 0 {
				return false
			}
		default:
			return false // a control character
		}
	}
}

// plainEscape returns the length of the escape at the start of b. It returns zero if the canonical
// form spells the character differently.
func plainEscape(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', 'b', 'f', 'n', 'r', 't':
		return 2
	}
	if len(b) < 6 || string(b[1:4]) != "u00" || b[4] != '0' && b[4] != '1' {
		return 0
	}
	c := b[5]
	if (c < '0' || c > '9') && (c < 'a' || c > 'f') || b[4] == '0' && (c == '8' || c == '9' || c == 'a' || c == 'c' ||
		c == 'd') {
		return 0
	}
	return 6
}

func (o *propertyOrderer) list(depth int) bool {
	o.next('[')
	for first := true; o.i < len(o.raw); first = false {
		if o.raw[o.i] == ']' && first {
			break
		}
		if !first && !o.next(',') || !o.value(depth-1) {
			return false
		}
		if o.space(); o.i < len(o.raw) && o.raw[o.i] == ']' {
			break
		}
	}
	if o.i >= len(o.raw) {
		return false
	}
	o.i++
	o.out = append(o.out, ']')
	return true
}

func (o *propertyOrderer) object(depth int) bool {
	o.next('{')
	base, start, inOrder := len(o.members), len(o.out), true
	for first := true; o.i < len(o.raw); first = false {
		if o.raw[o.i] == '}' && first {
			break
		}
		if !first && !o.next(',') || o.i >= len(o.raw) || o.raw[o.i] != '"' {
			return false
		}
		m := propertyOrderMember{from: len(o.out)}
		if !o.text() {
			return false
		}
		m.name = len(o.out)
		if !plainName(o.out[m.from+1:m.name-1]) || !o.next(':') || !o.value(depth-1) {
			return false
		}
		m.to = len(o.out)
		if n := len(o.members); n > base {
			before := o.members[n-1]
			inOrder = inOrder && bytes.Compare(o.out[before.from+1:before.name-1], o.out[m.from+1:m.name-1]) < 0
		}
		o.members = append(o.members, m)
		if o.space(); o.i < len(o.raw) && o.raw[o.i] == '}' {
			break
		}
	}
	if o.i >= len(o.raw) {
		return false
	}
	o.i++
	if !inOrder && !o.sort(o.members[base:], start) {
		return false
	}
	o.members = o.members[:base]
	o.out = append(o.out, '}')
	return true
}

// plainName reports whether comparing bytes is enough to order a member's name.
func plainName(name []byte) bool {
	if len(name) == 0 || string(name) == "__proto__" {
		return false
	}
	if _, isIndex := arrayIndex(string(name)); isIndex {
		return false
	}
	for _, c := range name {
		if c >= utf8.RuneSelf || c == '\\' {
			return false
		}
	}
	return true
}

// sort puts the members of an object, which begin at start, into their order; false when two have
// one name.
func (o *propertyOrderer) sort(members []propertyOrderMember, start int) bool {
	o.spare = append(o.spare[:0], o.out[start:]...)
	name := func(m propertyOrderMember) []byte { return o.spare[m.from-start+1 : m.name-start-1] }
	slices.SortFunc(members, func(a, b propertyOrderMember) int { return bytes.Compare(name(a), name(b)) })
	o.out = o.out[:start]
	for n, m := range members {
		if n > 0 {
			if bytes.Equal(name(members[n-1]), name(m)) {
				return false
			}
			o.out = append(o.out, ',')
		}
		o.out = append(o.out, o.spare[m.from-start:m.to-start]...)
	}
	return true
}
