package source

import (
	"bytes"
	"errors"
	"slices"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/declarative/expression"
)

// object is a JSON object that keeps the order of its members. Names and values share the memory of what was read.
type object struct {
	members []objectMember
}

type objectMember struct {
	quoted jsontext.Value
	value  jsontext.Value
}

// name returns the name of a member.
func (m *objectMember) name() string {
	name, _ := jsontext.AppendUnquote(nil, m.quoted) // it was read as JSON, or is a text of the document
	return string(name)
}

// objects are released objects with room for members.
var objects = sync.Pool{New: func() any { return &object{members: make([]objectMember, 0, 16)} }}

// release lets another record use the memory of the object.
func (o *object) release() {
	clear(o.members)
	o.members = o.members[:0]
	objects.Put(o)
}

var errNoObject = errors.New("is not an object")

// decodeObject reads an object of valid JSON.
func decodeObject(raw jsontext.Value) (*object, error) {
	if raw.Kind() != '{' {
		return nil, errNoObject
	}
	out, _ := objects.Get().(*object)
	expression.EachMember(raw, func(quoted, value jsontext.Value) bool {
		out.members = append(out.members, objectMember{quoted, value})
		return true
	})
	return out, nil
}

// at returns the position of a member, or -1.
func (o *object) at(name string) int {
	return slices.IndexFunc(o.members, func(m objectMember) bool { return expression.IsName(m.quoted, name) })
}

// value returns the value of a member, or nil.
func (o *object) value(name string) jsontext.Value {
	if i := o.at(name); i >= 0 {
		return o.members[i].value
	}
	return nil
}

func (o *object) set(name string, v jsontext.Value) {
	if i := o.at(name); i >= 0 {
		o.members[i].value = v
		return
	}
	quoted, _ := jsontext.AppendQuote(nil, name) // every text of a document is UTF-8
	o.members = append(o.members, objectMember{quoted, v})
}

func (o *object) remove(name string) {
	if i := o.at(name); i >= 0 {
		o.members = slices.Delete(o.members, i, i+1)
	}
}

// encode returns the object as JSON without space between tokens.
func (o *object) encode() jsontext.Value {
	n := 2
	for i := range o.members {
		n += len(o.members[i].quoted) + len(o.members[i].value) + 2
	}
	b := append(make([]byte, 0, n), '{')
	for i := range o.members {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, o.members[i].quoted...), ':')
		b = appendCompact(b, o.members[i].value)
	}
	return append(b, '}')
}

// appendCompact appends a value without space between tokens.
func appendCompact(b []byte, v jsontext.Value) []byte {
	if kind := v.Kind(); (kind == '{' || kind == '[') && bytes.ContainsAny(v, " \n\t\r") {
		if short := v.Clone(); short.Compact() == nil {
			v = short
		}
	}
	return append(b, v...)
}

// MemberJSON and ObjectJSON implement expression.ObjectSource.
func (o *object) MemberJSON(name string) (jsontext.Value, bool) {
	if i := o.at(name); i >= 0 {
		return o.members[i].value, true
	}
	return nil, false
}

func (o *object) ObjectJSON() jsontext.Value { return o.encode() }

// setAt sets the member at a path and makes the objects on the way.
func (o *object) setAt(path []string, v jsontext.Value) {
	if len(path) == 1 {
		o.set(path[0], v)
		return
	}
	inner, err := decodeObject(o.value(path[0]))
	if err != nil {
		inner = &object{}
	}
	inner.setAt(path[1:], v)
	o.set(path[0], inner.encode())
}

// removeAt removes the members at a path for which remove returns true.
func (o *object) removeAt(path []string, remove func(v jsontext.Value) bool) {
	if path[0] != "*" && path[0] != "**" {
		o.removeMember(path[0], path[1:], remove)
		return
	}
	for _, m := range slices.Clone(o.members) {
		o.removeMember(m.name(), path[1:], remove)
	}
}

func (o *object) removeMember(name string, rest []string, remove func(v jsontext.Value) bool) {
	i := o.at(name)
	if i < 0 {
		return
	}
	v := o.members[i].value
	if len(rest) == 0 {
		if remove(v) {
			o.remove(name)
		}
		return
	}
	if inner, err := decodeObject(v); err == nil {
		inner.removeAt(rest, remove)
		o.set(name, inner.encode())
	}
}
