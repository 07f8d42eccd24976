package connectorkit

import (
	"bytes"
	stdjson "encoding/json"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// quickSchema validates an encoded record in one pass over its bytes, without a tree. It knows the keywords of
// nearly all schemas. It only accepts records: for unknown keywords and invalid records the full validation
// decides.
type quickSchema struct {
	kinds    valueKinds // allowed kinds of a value; zero means any
	members  map[string]*quickMember
	required uint64       // bits of the required members
	others   *quickSchema // of other members; nil means any
	closed   bool         // other members are not allowed
	items    *quickSchema // nil means any
	enum     map[string]bool
	least    int // minimum length of a string
}

type quickMember struct {
	schema *quickSchema
	bit    uint64 // bit of a required member
}

// valueKinds is a set of types.
type valueKinds uint8

const (
	kindNull valueKinds = 1 << iota
	kindBool
	kindText
	kindWhole
	kindNumber
	kindList
	kindObject
)

var kinds = map[string]valueKinds{
	"null":    kindNull,
	"boolean": kindBool,
	"string":  kindText,
	"integer": kindWhole,
	"number":  kindNumber | kindWhole,
	"array":   kindList,
	"object":  kindObject,
}

// quickSchemas returns the schemas of a manifest that can be validated quickly, by stream.
func quickSchemas(m *manifest.Manifest) map[string]*quickSchema {
	all := map[string]*quickSchema{}
	for _, s := range m.Streams {
		if q, ok := readQuickSchema(jsontext.Value(s.Schema)); ok {
			all[s.Name] = q
		}
	}
	return all
}

// readQuickSchema parses a schema. It returns false for an unknown keyword.
func readQuickSchema(raw jsontext.Value) (*quickSchema, bool) {
	var words map[string]jsontext.Value
	if raw.Kind() != '{' || json.Unmarshal(raw, &words) != nil {
		return nil, false
	}
	q := &quickSchema{}
	var required []string
	var members map[string]jsontext.Value
	for word, value := range words {
		ok := true
		switch word {
		case "type":
			q.kinds, ok = kindsOf(value)
		case "properties":
			ok = json.Unmarshal(value, &members) == nil
		case "required":
			ok = json.Unmarshal(value, &required) == nil && len(required) <= 64
		case "items":
			q.items, ok = readQuickSchema(value)
		case "additionalProperties":
			if value.Kind() == 't' || value.Kind() == 'f' {
				q.closed = value.Kind() == 'f'
				continue
			}
			q.others, ok = readQuickSchema(value)
		case "enum":
			q.enum, ok = readStrings(value)
		case "minLength":
			ok = json.Unmarshal(value, &q.least) == nil
		case "title", "description", "format", "default", "examples": // they do not affect validation
		default:
			ok = strings.HasPrefix(word, "x_") || strings.HasPrefix(word, "x-")
		}
		if !ok {
			return nil, false
		}
	}
	q.members = map[string]*quickMember{}
	for name, value := range members {
		schema, ok := readQuickSchema(value)
		if !ok {
			return nil, false
		}
		q.members[name] = &quickMember{schema: schema}
	}
	for i, name := range required {
		m := q.members[name]
		if m == nil {
			m = &quickMember{schema: q.others}
			if q.closed {
				return nil, false
			}
			q.members[name] = m
		}
		m.bit |= 1 << i
		q.required |= 1 << i
	}
	return q, true
}

// readStrings parses a list of strings. It returns false for any other content.
func readStrings(value jsontext.Value) (map[string]bool, bool) {
	var list []any
	if json.Unmarshal(value, &list) != nil {
		return nil, false
	}
	texts := map[string]bool{}
	for _, v := range list {
		text, ok := v.(string)
		if !ok {
			return nil, false
		}
		texts[text] = true
	}
	return texts, true
}

func kindsOf(value jsontext.Value) (set valueKinds, ok bool) {
	list := []string{""}
	if value.Kind() == '"' {
		ok = json.Unmarshal(value, &list[0]) == nil
	} else {
		ok = json.Unmarshal(value, &list) == nil
	}
	for _, name := range list {
		set |= kinds[name]
		ok = ok && kinds[name] != 0
	}
	return set, ok
}

// quickReader reads the bytes of a record.
type quickReader struct {
	b     []byte
	i     int
	names []string // wanted members of the record itself
	tree  map[string]any
}

// judge validates a record that the kit has encoded. It returns the named members, or false if the full
// validation must decide.
func (q *quickSchema) judge(raw []byte, names []string) (map[string]any, bool) {
	l := quickReader{b: raw, names: names, tree: make(map[string]any, len(names))}
	if len(raw) == 0 || raw[0] != '{' || !l.object(q, protocol.MaxDepth-1, true) || l.i != len(raw) {
		return nil, false
	}
	return l.tree, true
}

func (q *quickSchema) takesString(text string) bool {
	return q == nil ||
		(q.kinds == 0 || q.kinds&kindText != 0) && (q.enum == nil || q.enum[text]) &&
			(q.least == 0 || utf8.RuneCountInString(text) >= q.least)
}

func (l *quickReader) value(q *quickSchema, depth int) bool {
	if l.i >= len(l.b) {
		return false
	}
	switch c := l.b[l.i]; {
	case c == '"':
		text, plain, ok := l.text()
		return ok && q.takesText(text, plain)
	case c == '{':
		return depth > 0 && l.object(q, depth, false)
	case c == '[':
		return depth > 0 && l.list(q, depth)
	case c == 't':
		return l.word("true") && q.takes(kindBool)
	case c == 'f':
		return l.word("false") && q.takes(kindBool)
	case c == 'n':
		return l.word("null") && q.takes(kindNull)
	}
	whole, ok := l.number()
	switch {
	case !ok:
		return false
	case whole:
		return q.takes(kindWhole)
	}
	return q.takes(kindNumber)
}

// takes reports whether a value of that kind, other than a string, is valid.
func (q *quickSchema) takes(k valueKinds) bool {
	return q == nil || (q.kinds == 0 || q.kinds&k != 0) && q.enum == nil
}

func (q *quickSchema) takesText(text []byte, plain bool) bool {
	switch {
	case q == nil:
		return true
	case q.kinds != 0 && q.kinds&kindText == 0:
		return false
	case q.enum != nil && (!plain || !q.enum[string(text)]):
		return false
	}
	return q.least == 0 || plain && utf8.RuneCount(text) >= q.least
}

// text reads a string without its quotes. plain reports whether it contains no escape.
func (l *quickReader) text() (text []byte, plain, ok bool) {
	start := l.i + 1
	for at := start; ; {
		end := bytes.IndexByte(l.b[at:], '"')
		if end < 0 {
			return nil, false, false
		}
		at += end
		if at == start || l.b[at-1] != '\\' || !beginsEscape(l.b, at-1) {
			l.i = at + 1
			text = l.b[start:at]
			return text, bytes.IndexByte(text, '\\') < 0, true
		}
		at++
	}
}

func (l *quickReader) word(word string) bool {
	if !bytes.HasPrefix(l.b[l.i:], []byte(word)) {
		return false
	}
	l.i += len(word)
	return true
}

func (l *quickReader) number() (whole, ok bool) {
	start := l.i
	whole = true
	for ; l.i < len(l.b); l.i++ {
		switch c := l.b[l.i]; {
		case c >= '0' && c <= '9' || c == '-' && l.i == start:
		case c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-':
			whole = false
		default:
			return whole, l.i > start
		}
	}
	return whole, l.i > start
}

func (l *quickReader) list(q *quickSchema, depth int) bool {
	if !q.takes(kindList) {
		return false
	}
	var items *quickSchema
	if q != nil {
		items = q.items
	}
	l.i++
	for first := true; l.i < len(l.b); first = false {
		if l.b[l.i] == ']' {
			l.i++
			return true
		}
		if !first && !l.word(",") || !l.value(items, depth-1) {
			return false
		}
	}
	return false
}

func (l *quickReader) object(q *quickSchema, depth int, record bool) bool {
	if !q.takes(kindObject) {
		return false
	}
	missing := uint64(0)
	if q != nil {
		missing = q.required
	}
	l.i++
	for first := true; l.i < len(l.b); first = false {
		if l.b[l.i] == '}' {
			l.i++
			return missing == 0
		}
		if !first && !l.word(",") || l.i >= len(l.b) || l.b[l.i] != '"' {
			return false
		}
		name, plain, ok := l.text()
		if !ok || !plain || !l.word(":") {
			return false
		}
		var schema *quickSchema
		if q != nil {
			if m := q.members[string(name)]; m != nil {
				schema = m.schema
				missing &^= m.bit
			} else if q.closed {
				return false
			} else {
				schema = q.others
			}
		}
		start := l.i
		if !l.value(schema, depth-1) {
			return false
		}
		if record && slices.Contains(l.names, string(name)) && !l.keep(string(name), l.b[start:l.i]) {
			return false
		}
	}
	return false
}

// keep puts a member into the tree, in the form that a schema validates.
func (l *quickReader) keep(name string, raw []byte) bool {
	switch jsontext.Value(raw).Kind() {
	case '"':
		text, err := jsontext.AppendUnquote(nil, raw)
		l.tree[name] = string(text)
		return err == nil
	case '0':
		l.tree[name] = stdjson.Number(raw)
	case 't', 'f':
		l.tree[name] = raw[0] == 't'
	case 'n':
		l.tree[name] = nil
	default:
		return false // not a key or a time
	}
	return true
}

// wiredBySchemas reports whether records are validated only by their schemas.
func (c *Connector) wiredBySchemas() bool {
	return c.Validate != nil && c.quick != nil &&
		reflect.ValueOf(c.Validate).Pointer() == reflect.ValueOf(c.wired).Pointer()
}
