package protocol

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// MaxDepth bounds the nesting of a message, including its data.
const MaxDepth = 64

// Direction is the direction in which messages flow.
type Direction int

const (
	FromConnector Direction = iota
	ToConnector
)

// Decoder converts lines of one direction to messages. It reuses its memory: raw values of a message alias the
// line, and the next Decode overwrites a *Record. A Decoder is not safe for concurrent use.
//
// A null member counts as absent; only the cursor of a STATE may be null.
type Decoder struct {
	dir     Direction
	dec     *jsontext.Decoder
	buf     bytes.Buffer
	quick   quickLine
	members []Field
	rec     Record
	names   map[string]string
	large   bool // the lists may reference a large line
	last    string

	uploaded bool // the current record comes from a device
}

// NewDecoder returns a decoder for the direction.
func NewDecoder(dir Direction) *Decoder {
	d := &Decoder{dir: dir, names: map[string]string{}}
	d.dec = jsontext.NewDecoder(&d.buf)
	return d
}

// Decode decodes one line. The error is always a *Violation.
func (d *Decoder) Decode(line []byte) (Message, error) {
	m, v := d.decode(line)
	if v != nil {
		v.LastValidEvent = d.last
		return nil, v
	}
	d.last = string(m.Type()) // the string of a constant: no allocation
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
		return nil, &Violation{
			Subtype:  UnknownMessageType,
			Expected: typeNames(d.dir),
			Received: strconv.Quote(clipText(string(name))),
		}
	}
	if oneOf(name, ConnectorTypes) != (d.dir == FromConnector) {
		return nil, &Violation{Subtype: WrongDirection, MessageType: name, Expected: typeNames(d.dir)}
	}
	v = d.incomplete(name)
	if v == nil {
		if err := json.Unmarshal(line, m); err != nil {
			v = typeViolation(err)
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

// incomplete returns a violation for the first required member that the line lacks.
func (d *Decoder) incomplete(name MessageType) *Violation {
	for _, path := range requiredMembers[name] {
		if !d.hasMember(path) {
			return &Violation{Subtype: MissingField, Expected: []string{path}}
		}
	}
	if v := d.member("reason"); name == TypeSkipResult && v.Kind() == '"' {
		if reason, err := unquote(v); err == nil && isBlank(reason) {
			return &Violation{Subtype: InvalidField, Expected: []string{"reason: non-blank when present"}}
		}
	}
	if oneOf(name, referenceOnlyTypes) && d.member("reference_only").Kind() == 'f' {
		return &Violation{Subtype: InvalidField, Expected: []string{"reference_only: true or absent"}}
	}
	return nil
}

// hasMember reports whether a member is present. A dotted path names a member of an optional object; it is also true if
// the object is absent.
func (d *Decoder) hasMember(path string) bool {
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

// member returns the raw value of a top-level member, or nil.
func (d *Decoder) member(name string) jsontext.Value {
	for i := range d.members {
		if d.members[i].Name == name {
			return d.members[i].Value
		}
	}
	return nil
}

// memberOf returns the raw value of a member of a valid object, or nil.
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
		return clipText(d.text(v, ""))
	}
	return ""
}
