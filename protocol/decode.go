package protocol

import (
	"bytes"
	"errors"
	"io"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// MaxDepth bounds how deep a message may nest, data included.
const MaxDepth = 64

// Direction says who speaks.
type Direction int

const (
	FromConnector Direction = iota
	ToConnector
)

// Decoder turns lines of one direction into messages. It reuses its memory: a
// message's raw values alias the line, and a *Record is overwritten by the next
// Decode. Not safe for concurrent use.
type Decoder struct {
	dir     Direction
	dec     *jsontext.Decoder
	buf     bytes.Buffer
	members []Field
	rec     Record
	names   map[string]string
	last    string
}

// maxInterned bounds the table of names that the decoder keeps, so that data
// with unbounded member names cannot grow it.
const maxInterned = 4096

// NewDecoder decodes messages that flow in the given direction.
func NewDecoder(dir Direction) *Decoder {
	d := &Decoder{dir: dir, names: map[string]string{}}
	d.dec = jsontext.NewDecoder(&d.buf)
	return d
}

// Decode reads one line. The error is always a *Violation.
func (d *Decoder) Decode(line []byte) (Message, error) {
	m, v := d.decode(line)
	if v != nil {
		v.LastValidEvent = d.last
		return nil, v
	}
	d.last = string(m.Type()) // a constant's header: no allocation
	return m, nil
}

func (d *Decoder) decode(line []byte) (Message, *Violation) {
	if tooDeep(line, MaxDepth) {
		return nil, &Violation{Subtype: NestingTooDeep, Expected: []string{"at most " + strconv.Itoa(MaxDepth) + " levels"}}
	}
	if v := d.split(line); v != nil {
		return nil, v
	}
	name, v := d.messageType()
	if v != nil {
		return nil, v
	}
	if name == TypeRecord && d.dir == FromConnector {
		return d.record()
	}
	m := newMessage(name)
	if m == nil {
		return nil, &Violation{Subtype: UnknownMessageType, Expected: typeNames(d.dir), Received: strconv.Quote(clip(string(name)))}
	}
	if oneOf(name, ConnectorTypes) != (d.dir == FromConnector) {
		return nil, &Violation{Subtype: WrongDirection, MessageType: name, Expected: typeNames(d.dir)}
	}
	for _, field := range requiredMembers[name] {
		if d.member(field) == nil {
			return nil, &Violation{Subtype: MissingField, MessageType: name, Stream: d.streamName(), Expected: []string{field}}
		}
	}
	if err := json.Unmarshal(line, m); err != nil {
		return nil, d.semantic(name, err)
	}
	if v := m.check(); v != nil {
		v.MessageType = name
		if v.Stream == "" {
			v.Stream = d.streamName()
		}
		return nil, v
	}
	return m, nil
}

// split cuts the line into its top-level members and, under "data", the
// record's fields, in one pass that also proves the line to be valid JSON.
func (d *Decoder) split(line []byte) *Violation {
	d.members, d.rec.fields = d.members[:0], d.rec.fields[:0]
	d.buf = *bytes.NewBuffer(line)
	d.dec.Reset(&d.buf)
	if d.dec.PeekKind() != '{' {
		if _, err := d.dec.ReadValue(); err != nil {
			return malformed(line, err)
		}
		return &Violation{Subtype: NotAnObject, Expected: []string{"a JSON object"}}
	}
	err := d.object(line, &d.members, true)
	if err != nil {
		return malformed(line, err)
	}
	if _, err := d.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return &Violation{Subtype: MalformedJSON, Expected: []string{"one JSON object"}, Received: "more after it"}
	}
	return nil
}

func (d *Decoder) object(line []byte, into *[]Field, top bool) error {
	if _, err := d.dec.ReadToken(); err != nil {
		return err
	}
	for d.dec.PeekKind() != '}' {
		raw, err := d.dec.ReadValue()
		if err != nil {
			return err
		}
		name := d.intern(raw)
		var value []byte
		if top && name == "data" && d.dec.PeekKind() == '{' {
			start := bytes.IndexByte(line[d.dec.InputOffset():], '{') + int(d.dec.InputOffset())
			if err := d.object(line, &d.rec.fields, false); err != nil {
				return err
			}
			value = line[start:d.dec.InputOffset()]
		} else if value, err = d.dec.ReadValue(); err != nil {
			return err
		}
		*into = append(*into, Field{Name: name, Value: value})
	}
	_, err := d.dec.ReadToken()
	return err
}

// intern gives the member name without allocating for names seen before.
func (d *Decoder) intern(raw jsontext.Value) string {
	if s, ok := d.names[string(raw)]; ok {
		return s
	}
	s, err := unquote(raw)
	if err != nil {
		return ""
	}
	if len(d.names) < maxInterned {
		d.names[string(raw)] = s
	}
	return s
}

func (d *Decoder) member(name string) jsontext.Value {
	for i := range d.members {
		if d.members[i].Name == name {
			return d.members[i].Value
		}
	}
	return nil
}

func (d *Decoder) messageType() (MessageType, *Violation) {
	v := d.member("type")
	if v == nil {
		return "", &Violation{Subtype: MissingField, Expected: []string{"type"}}
	}
	if v.Kind() != '"' {
		return "", &Violation{Subtype: InvalidField, Expected: []string{"type: string"}, Received: kindName(v.Kind())}
	}
	return MessageType(d.intern(v)), nil
}

func (d *Decoder) streamName() string {
	if v := d.member("stream"); v != nil && v.Kind() == '"' {
		return clip(d.intern(v))
	}
	return ""
}

// semantic describes a value of the wrong type by its path and kind only.
func (d *Decoder) semantic(name MessageType, err error) *Violation {
	v := &Violation{Subtype: InvalidField, MessageType: name, Stream: d.streamName(), Received: "an invalid value"}
	var se *json.SemanticError
	if errors.As(err, &se) {
		v.Received = clip(string(se.JSONPointer)) + ": " + kindName(se.JSONKind)
		if se.GoType != nil {
			v.Expected = []string{se.GoType.Kind().String()}
		}
	}
	return v
}

func malformed(line []byte, err error) *Violation {
	received := "a line of " + strconv.Itoa(len(line)) + " bytes"
	var se *jsontext.SyntacticError
	if errors.As(err, &se) {
		received += ", broken at byte " + strconv.FormatInt(se.ByteOffset, 10)
	}
	return &Violation{Subtype: MalformedJSON, Expected: []string{"one JSON object"}, Received: received}
}

// tooDeep reports whether v nests deeper than max. Counting the openers first
// settles nearly every line without looking at the structure.
func tooDeep(v []byte, max int) bool {
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

func kindName(k jsontext.Kind) string {
	switch k {
	case 'n':
		return "null"
	case 't', 'f':
		return "boolean"
	case '"':
		return "string"
	case '0':
		return "number"
	case '{':
		return "object"
	case '[':
		return "array"
	default:
		return "an invalid value"
	}
}
