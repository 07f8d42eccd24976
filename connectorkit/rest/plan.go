package rest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest/internal/rawjson"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// recordPlan maps the items of a stream to records. It is compiled once; reading an item is one pass over its bytes. It
// is safe for concurrent use.
type recordPlan struct {
	members []plannedMember // in the order of the schema
	slots   map[string]int  // of the item's own members, by name
	key     []int           // members of the primary key
	time    int             // member with the time of the record, or -1
	deleted compiledPath
	values  []string  // of a deleted item
	scratch sync.Pool // *itemScan
}

type plannedMember struct {
	quoted string // with its colon
	name   string
	kinds  kindSet
	field  compiledField
}

type compiledField struct {
	Field
	from  []compiledPath
	inner []compiledField
	each  []string
}

// compiledPath is a path that begins in a slot.
type compiledPath struct {
	slot int
	rest []string
}

// itemScan is one item during its reading.
type itemScan struct {
	item  Item
	slots []jsontext.Value
	keys  []string
	buf   []byte
}

// kindSet is a set of JSON kinds.
type kindSet uint8

const (
	kindText kindSet = 1 << iota
	kindWhole
	kindFraction
	kindBool
	kindList
	kindObject
)

var kindsOfType = map[string]kindSet{
	"string": kindText, "integer": kindWhole, "number": kindWhole | kindFraction, "boolean": kindBool,
	"array": kindList, "object": kindObject, "null": 0,
}

var errKind = errors.New("the value has another type than the schema allows")

// compilePlan compiles the mapping of a stream.
func compilePlan(declared *manifest.Stream, s *Stream) (*recordPlan, error) {
	p := &recordPlan{slots: map[string]int{}, time: -1}
	dec := jsontext.NewDecoder(bytes.NewReader(rawjson.MemberAt(jsontext.Value(declared.Schema), []string{"properties"})))
	if dec.PeekKind() != '{' {
		return nil, errors.New("the schema has no properties")
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	unused := map[string]bool{}
	for name := range s.Fields {
		unused[name] = true
	}
	for dec.PeekKind() != '}' {
		token, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		name := token.String()
		schema, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		field, listed := s.Fields[name]
		if !listed {
			field = From(name)
		}
		field.nonEmpty = field.nonEmpty || s.OmitEmpty
		delete(unused, name)
		if field.kind == fieldNone {
			continue
		}
		quoted, err := jsontext.AppendQuote(nil, name)
		if err != nil {
			return nil, err
		}
		p.members = append(p.members, plannedMember{quoted: string(quoted) + ":", name: name, kinds: kindsOf(schema),
			field: p.compileField(field)})
		if name == declared.ConsentTimeField {
			p.time = len(p.members) - 1
		}
	}
	for _, name := range declared.PrimaryKey {
		at := slices.IndexFunc(p.members, func(m plannedMember) bool { return m.name == name })
		if at < 0 {
			return nil, fmt.Errorf("no field makes the key's %q", name)
		}
		p.key = append(p.key, at)
	}
	if s.Deleted.Path != "" {
		p.deleted, p.values = p.compilePath(s.Deleted.Path), s.Deleted.Values
		if len(p.values) == 0 {
			p.values = []string{"true"}
		}
	}
	if len(unused) > 0 {
		return nil, fmt.Errorf("fields are not in the schema: %v", unused)
	}
	p.scratch.New = func() any {
		return &itemScan{slots: make([]jsontext.Value, len(p.slots)), keys: make([]string, len(p.key))}
	}
	return p, nil
}

// Reader returns the ItemReader of a stream of a manifest, for a hook that reads items in its own order. It compiles
// the stream with the first item, and panics then if declaration and manifest do not agree.
func Reader(manifestJSON []byte, s Stream) ItemReader {
	compile := sync.OnceValue(func() *recordPlan {
		m, err := manifest.Parse(manifestJSON)
		if err != nil {
			panic(err)
		}
		plans, err := compileStreams(m, []Stream{s})
		if err != nil {
			panic(err)
		}
		return plans[s.Name]
	})
	return func(item Item) Row { return compile().readItem(item) }
}

// kindsOf returns the kinds that a schema's type allows; zero means any.
func kindsOf(schema jsontext.Value) (set kindSet) {
	value := rawjson.MemberAt(schema, []string{"type"})
	types, ok := rawjson.ElementsOf(value)
	if !ok {
		types = []jsontext.Value{value}
	}
	for _, t := range types {
		name, _ := rawjson.TextOf(t)
		set |= kindsOfType[name]
	}
	return set
}

func (p *recordPlan) compileField(f Field) compiledField {
	c := compiledField{Field: f}
	for _, path := range f.paths {
		c.from = append(c.from, p.compilePath(path))
	}
	for _, part := range f.inner {
		c.inner = append(c.inner, p.compileField(part))
	}
	if f.kind == fieldEach {
		c.each = rawjson.SplitPath(f.text)
	}
	return c
}

func (p *recordPlan) compilePath(path string) compiledPath {
	names := rawjson.SplitPath(path)
	slot, known := p.slots[names[0]]
	if !known {
		slot = len(p.slots)
		p.slots[names[0]] = slot
	}
	return compiledPath{slot, names[1:]}
}

// readItem is the ItemReader of the plan.
func (p *recordPlan) readItem(item Item) Row {
	s := p.scratch.Get().(*itemScan)
	defer p.scratch.Put(s)
	clear(s.slots)
	clear(s.keys)
	s.item = item
	rawjson.EachMember(item.Raw, func(name, value []byte) bool {
		if slot, wanted := p.slots[string(name)]; wanted {
			s.slots[slot] = value
		}
		return true
	})
	row, err := p.readSlots(s)
	if err != nil || row.Key == "" {
		return Row{Record: connectorkit.Unreadable(p.nameOf(s), err)}
	}
	return row
}

func (p *recordPlan) readSlots(s *itemScan) (row Row, err error) {
	gone := p.values != nil && slices.Contains(p.values, string(s.at(p.deleted)))
	buf := append(s.buf[:0], '{')
	for i := range p.members {
		m := &p.members[i]
		part := slices.Index(p.key, i)
		if gone && part < 0 && i != p.time {
			continue // a report of a deletion may have nothing but its key
		}
		value, err := m.field.value(s)
		if err != nil {
			return Row{}, m.at(err)
		}
		if value == nil && m.field.layout != "" && !gone {
			return Row{}, m.at(errKind)
		}
		if value == nil {
			continue
		}
		if !m.kinds.allow(value) {
			return Row{}, m.at(errKind)
		}
		if m.field.layout != "" {
			text, _ := rawjson.TextOf(value)
			if _, err := time.Parse(m.field.layout, text); err != nil {
				return Row{}, m.at(err)
			}
		}
		if part >= 0 {
			s.keys[part], _ = rawjson.TextOf(value)
		}
		if i == p.time {
			row.Time, _ = rawjson.TextOf(value)
		}
		if len(buf) > 1 {
			buf = append(buf, ',')
		}
		buf = append(buf, m.quoted...)
		buf = rawjson.AppendCompact(buf, value)
	}
	s.buf = append(buf, '}')
	if slices.Contains(s.keys, "") {
		return Row{}, nil
	}
	row.Key = s.keys[0]
	if len(s.keys) > 1 {
		row.Key = protocol.CompoundKey(s.keys...)
	}
	if row.Deleted = gone; !gone {
		row.encoded = bytes.Clone(s.buf)
		row.Record = connectorkit.UpsertEncoded(row.encoded)
	}
	return row, nil
}

// at returns an error with the place of the member.
func (m *plannedMember) at(err error) error {
	return &json.SemanticError{JSONPointer: jsontext.Pointer("/" + m.name), Err: err}
}

// nameOf returns what can be read of the key of an unreadable item.
func (p *recordPlan) nameOf(s *itemScan) string {
	var parts []string
	for _, at := range p.key {
		v, err := p.members[at].field.value(s)
		for _, path := range p.members[at].field.from {
			if err != nil { // it is of another type
				v, err = s.at(path), nil
			}
		}
		if text, ok := rawjson.TextOf(v); ok && v != nil {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, " ")
}

// at returns the value at a path, or nil if it is absent or null.
func (s *itemScan) at(path compiledPath) jsontext.Value {
	v := s.slots[path.slot]
	if len(path.rest) > 0 && v != nil {
		v = rawjson.MemberAt(v, path.rest)
	}
	if v == nil || v[0] == 'n' {
		return nil
	}
	return v
}

// allow reports whether a value is of one of the kinds.
func (k kindSet) allow(v jsontext.Value) bool {
	if k == 0 {
		return true
	}
	switch v[0] {
	case '"':
		return k&kindText != 0
	case '{':
		return k&kindObject != 0
	case '[':
		return k&kindList != 0
	case 't', 'f':
		return k&kindBool != 0
	}
	if k&kindFraction != 0 {
		return true
	}
	return k&kindWhole != 0 && isWhole(v)
}

// isWhole reports whether a number is whole, however it is spelled.
func isWhole(v jsontext.Value) bool {
	if !bytes.ContainsAny(v, ".eE") {
		return true
	}
	return !bytes.ContainsAny(rawjson.AppendNumber(nil, v), ".eE")
}
