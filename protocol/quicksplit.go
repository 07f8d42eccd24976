package protocol

import (
	"bytes"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// quickLine splits a line in one pass over its bytes. It handles plain JSON only. Lines that it does not
// understand, or that are invalid, go to the library, which decides.
type quickLine struct {
	b     []byte
	i     int         // index of the next byte
	names []byteRange // names of the open objects below a record's fields
}

type byteRange struct{ from, to int }

// maxQuickMembers bounds the members of an object that are checked for duplicates.
const maxQuickMembers = 64

// quickSplit does the same as split. It returns false if the library must parse the line.
func (d *Decoder) quickSplit(line []byte) bool {
	q := &d.quick
	q.b, q.i, q.names = line, 0, q.names[:0]
	good := q.next() == '{' && d.quickObject(&d.members, true) && q.next() == 0 && q.i == len(line)
	q.b = nil
	return good
}

// Object splits a JSON object into its members, valid until the next call. It returns false if the object is not plain
// JSON of a bounded depth and size.
func (d *Decoder) Object(object []byte) ([]Field, bool) {
	d.rec.fields = truncateFields(d.rec.fields)
	q := &d.quick
	q.b, q.i, q.names = object, 0, q.names[:0]
	good := !TooDeep(object, MaxDepth-1) && q.next() == '{' && d.quickObject(&d.rec.fields, false) && q.next() == 0 &&
		q.i == len(object)
	q.b = nil
	return d.rec.fields, good
}

// EveryElement reports whether good holds for every element of a JSON array. It returns false for an array that is not
// plain JSON, even if it is valid.
func EveryElement(array jsontext.Value, good func(value jsontext.Value) bool) bool {
	q := quickLine{b: array, i: 1}
	for more := q.next() != ']'; more; {
		q.next()
		start, sound := q.i, false
		if !q.value() || !good(array[start:q.i]) {
			return false
		}
		if more, sound = q.comma(']'); !sound {
			return false
		}
	}
	return true
}

// EveryMember reports whether good holds for every member of a JSON object. It returns false for an object that is
// not plain JSON, even if it is valid.
func EveryMember(object jsontext.Value, good func(name []byte, value jsontext.Value) bool) bool {
	q := quickLine{b: object, i: 1}
	for more := q.next() != '}'; more; {
		q.next()
		start, sound := q.i, false
		if !q.name() {
			return false
		}
		name := object[start+1 : q.i-1]
		if q.next() != ':' {
			return false
		}
		q.i++
		q.next()
		if start = q.i; !q.value() || !good(name, object[start:q.i]) {
			return false
		}
		if more, sound = q.comma('}'); !sound {
			return false
		}
	}
	return true
}

func (d *Decoder) quickObject(into *[]Field, top bool) bool {
	q, list := &d.quick, *into
	q.i++
	for more := q.next() != '}'; more; {
		if q.next() != '"' || len(list) == maxQuickMembers {
			return false
		}
		start := q.i
		if !q.name() {
			return false
		}
		before := ""
		if n := len(list); n < cap(list) {
			before = list[:n+1][n].Name
		}
		name := d.text(q.b[start:q.i], before)
		for i := range list {
			if list[i].Name == name {
				return false
			}
		}
		if q.next() != ':' {
			return false
		}
		q.i++
		kind := q.next()
		start = q.i
		if top && name == "data" && kind == '{' {
			if !d.quickObject(&d.rec.fields, false) {
				return false
			}
		} else if !q.value() {
			return false
		}
		list = append(list, Field{Name: name, Value: q.b[start:q.i:q.i]})
		var good bool
		if more, good = q.comma('}'); !good {
			return false
		}
	}
	q.i++
	*into = list
	return true
}

// next skips white space and returns the byte after it, or zero at the end.
func (q *quickLine) next() byte {
	for ; q.i < len(q.b); q.i++ {
		if c := q.b[q.i]; c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return c
		}
	}
	return 0
}

// comma reports whether another member or element follows. good is false if neither that nor the end follows.
func (q *quickLine) comma(end byte) (more, good bool) {
	switch q.next() {
	case ',':
		q.i++
		return true, true
	case end:
		return false, true
	}
	return false, false
}

func (q *quickLine) value() bool {
	switch q.next() {
	case '"':
		_, good := q.text()
		return good
	case '{':
		return q.object()
	case '[':
		return q.list()
	case 't':
		return q.word("true")
	case 'f':
		return q.word("false")
	case 'n':
		return q.word("null")
	}
	n := NumberLength(q.b[q.i:])
	q.i += n
	return n > 0
}

func (q *quickLine) word(word string) bool {
	good := bytes.HasPrefix(q.b[q.i:], []byte(word))
	q.i += len(word)
	return good
}

// name skips the name of a member, which must not contain an escape.
func (q *quickLine) name() bool {
	plain, good := q.text()
	return plain && good
}

// text skips a string. plain reports whether it contains no escape.
func (q *quickLine) text() (plain, good bool) {
	start := q.i
	plain = true
	for ascii := true; ; {
		at, same := TextStop(q.b, q.i+1)
		if ascii = ascii && same; at == len(q.b) {
			return plain, false
		}
		switch q.b[at] {
		case '"':
			q.i = at + 1
			return plain, ascii || utf8.Valid(q.b[start:q.i])
		case '\\':
			n := EscapeLength(q.b[at:])
			if n == 0 || n == 6 && q.b[at+2]|0x20 == 'd' { // possibly half of a surrogate pair
				return plain, false
			}
			plain, q.i = false, at+n-1
		default:
			return plain, false
		}
	}
}

func (q *quickLine) list() bool {
	q.i++
	for more := q.next() != ']'; more; {
		var good bool
		if !q.value() {
			return false
		}
		if more, good = q.comma(']'); !good {
			return false
		}
	}
	q.i++
	return true
}

func (q *quickLine) object() bool {
	base := len(q.names)
	q.i++
	for more := q.next() != '}'; more; {
		if q.next() != '"' || len(q.names)-base == maxQuickMembers {
			return false
		}
		name := byteRange{from: q.i}
		if !q.name() {
			return false
		}
		name.to = q.i
		for _, other := range q.names[base:] {
			if bytes.Equal(q.b[other.from:other.to], q.b[name.from:name.to]) {
				return false
			}
		}
		q.names = append(q.names, name)
		if q.next() != ':' {
			return false
		}
		q.i++
		var good bool
		if !q.value() {
			return false
		}
		if more, good = q.comma('}'); !good {
			return false
		}
	}
	q.i++
	q.names = q.names[:base]
	return true
}
