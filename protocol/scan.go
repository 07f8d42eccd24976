package protocol

import (
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// Bounds of the memory that the decoder keeps between lines: the number of names, their length, and the capacity
// of lists.
const (
	maxNames   = 4096
	maxNameLen = 256
	maxKept    = 4096
	maxAliased = 1 << 20 // longer lines are released with the next one
)

// split finds the top-level members of the line and, under "data", the record's fields. Its single pass also
// validates the JSON.
func (d *Decoder) split(line []byte) *Violation {
	if d.large {
		d.members, d.rec.fields = nil, nil
	}
	d.large = len(line) > maxAliased
	d.members, d.rec.fields = truncateFields(d.members), truncateFields(d.rec.fields)
	if d.quickSplit(line) {
		return nil
	}
	d.members, d.rec.fields = d.members[:0], d.rec.fields[:0]
	return d.slowSplit(line)
}

// slowSplit does the same as split with the JSON library.
func (d *Decoder) slowSplit(line []byte) *Violation {
	d.buf = *bytes.NewBuffer(line)
	d.dec.Reset(&d.buf)
	if d.dec.PeekKind() != '{' {
		if _, err := d.dec.ReadValue(); err != nil {
			return malformed(line, err)
		}
		return &Violation{Subtype: NotAnObject, Expected: []string{"a JSON object"}}
	}
	if err := d.object(line, &d.members, true); err != nil {
		return malformed(line, err)
	}
	if _, err := d.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return &Violation{Subtype: MalformedJSON, Expected: []string{"one JSON object"}, Received: "more after it"}
	}
	return nil
}

// truncateFields truncates the list and keeps its memory, unless that is large. text reuses the old names in it.
func truncateFields(list []Field) []Field {
	if cap(list) > maxKept {
		return nil
	}
	return list[:0]
}

func (d *Decoder) object(line []byte, into *[]Field, top bool) error {
	if _, err := d.dec.ReadToken(); err != nil {
		return err
	}
	list := *into
	for d.dec.PeekKind() != '}' {
		raw, err := d.dec.ReadValue()
		if err != nil {
			return err
		}
		before := ""
		if n := len(list); n < cap(list) {
			before = list[:n+1][n].Name
		}
		name := d.text(raw, before)
		var value []byte
		if top && name == "data" && d.dec.PeekKind() == '{' {
			start := bytes.IndexByte(line[d.dec.InputOffset():], '{') + int(d.dec.InputOffset())
			if err := d.object(line, &d.rec.fields, false); err != nil {
				return err
			}
			value = line[start:d.dec.InputOffset():d.dec.InputOffset()]
		} else if value, err = d.dec.ReadValue(); err != nil {
			return err
		}
		list = append(list, Field{Name: name, Value: value})
	}
	*into = list
	_, err := d.dec.ReadToken()
	return err
}

// text unquotes a JSON string without an allocation if the string is known. The records of a stream repeat their
// member names in the same order, so it first tries the name at the same position.
func (d *Decoder) text(raw jsontext.Value, before string) string {
	if equalsUnescaped(raw, before) {
		return before
	}
	if s, ok := d.names[string(raw)]; ok {
		return s
	}
	s, err := unquote(raw)
	if err != nil {
		return ""
	}
	if len(raw) <= maxNameLen && len(d.names) < maxNames {
		d.names[string(raw)] = s
	}
	return s
}

// TooDeep reports whether v nests deeper than max. It first counts the opening brackets, which decides nearly
// every line.
func TooDeep(v []byte, max int) bool {
	if bytes.Count(v, []byte{'{'})+bytes.Count(v, []byte{'['}) <= max {
		return false
	}
	depth, inString := 0, false
	for i := 0; i < len(v); i++ {
		switch c := v[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			if depth++; depth > max {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}
