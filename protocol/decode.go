package protocol

import (
	"bytes"
	"strconv"
	"strings"

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
//
// A member that is null counts as absent; only a STATE's cursor may be null.
type Decoder struct {
	dir     Direction
	dec     *jsontext.Decoder
	buf     bytes.Buffer
	quick   quickLine
	members []Field
	rec     Record
	names   map[string]string
	large   bool // the lists may hold on to a large line
	last    string

	uploaded bool // the record at hand comes from a device
}

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
	if TooDeep(line, MaxDepth) {
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
	v = d.incomplete(name)
	if v == nil {
		if err := json.Unmarshal(line, m); err != nil {
			v = semantic(err)
		} else {
			v = m.check()
		}
	}
	if v != nil {
		v.MessageType, v.Stream = name, d.streamName()
		return nil, v
	}
	return m, nil
}

// incomplete looks for the first member that the type requires and the line lacks.
func (d *Decoder) incomplete(name MessageType) *Violation {
	for _, path := range requiredMembers[name] {
		if !d.has(path) {
			return &Violation{Subtype: MissingField, Expected: []string{path}}
		}
	}
	if v := d.member("reason"); name == TypeSkipResult && v.Kind() == '"' {
		if reason, err := unquote(v); err == nil && blank(reason) {
			return &Violation{Subtype: InvalidField, Expected: []string{"reason: non-blank when present"}}
		}
	}
	if oneOf(name, referenceOnlyTypes) && d.member("reference_only").Kind() == 'f' {
		return &Violation{Subtype: InvalidField, Expected: []string{"reference_only: true or absent"}}
	}
	return nil
}

// has reports whether the member is present. A path with dots asks for a member
// of an optional object and holds when the object itself is absent.
func (d *Decoder) has(path string) bool {
	name, rest, nested := strings.Cut(path, ".")
	v := d.member(name)
	for nested {
		if v.Kind() != '{' {
			return true // absent, or of a wrong type that decoding reports
		}
		name, rest, nested = strings.Cut(rest, ".")
		v = memberOf(v, name)
	}
	return v != nil && (v.Kind() != 'n' || path == "cursor")
}

// member gives the raw value of a top-level member, nil if there is none.
func (d *Decoder) member(name string) jsontext.Value {
	for i := range d.members {
		if d.members[i].Name == name {
			return d.members[i].Value
		}
	}
	return nil
}

// memberOf gives the raw value of a member of a valid object, nil if there is none.
func memberOf(object jsontext.Value, name string) jsontext.Value {
	var members map[string]jsontext.Value
	if json.Unmarshal(object, &members) != nil {
		return nil
	}
	return members[name]
}

func (d *Decoder) messageType() (MessageType, *Violation) {
	v := d.member("type")
	switch v.Kind() {
	case '"':
		return MessageType(d.text(v, "")), nil
	case 'n', jsontext.KindInvalid:
		return "", &Violation{Subtype: MissingField, Expected: []string{"type"}}
	default:
		return "", &Violation{Subtype: InvalidField, Expected: []string{"type: string"}, Received: kindName(v.Kind())}
	}
}

func (d *Decoder) streamName() string {
	if v := d.member("stream"); v.Kind() == '"' {
		return clip(d.text(v, ""))
	}
	return ""
}
