package expression

import "strings"

// form is what kind of sequence a list is. It decides how the list prints and what a template may do with it.
type form uint8

const (
	plainList form = iota
	tuple
	set
	generator // the result of a lazy filter; it cannot be indexed, measured or printed
	keysView
	itemsView
	valuesView
)

// list is a sequence. The template that created a list may change it.
type list struct {
	items []Value
	form  form
	owned bool
}

func listOf(items []Value, f form) Value {
	return Value{kind: Array, ref: &list{items: items, form: f, owned: true}}
}

// indexFrom is the number of members above which an object has an index.
const indexFrom = 8

// singleReads is how many members are read one by one before the whole object is expanded.
const singleReads = 3

// members are the members of an object in their order. A member name is its text; encodeKey maps other keys to texts.
type members struct {
	keys   []string
	values []Value
	index  map[string]int
	raw    []byte       // JSON that is not expanded yet
	source ObjectSource // of an object that is not expanded yet
	reads  uint8        // of single members of source
	owned  bool
}

// NewObject returns an empty object with room for n members, to be filled with Builder.Set.
func NewObject(n int) *Builder {
	return &Builder{members: &members{keys: make([]string, 0, n), values: make([]Value, 0, n)}}
}

// Builder makes an object.
type Builder struct{ members *members }

// Set adds or replaces a member.
func (b *Builder) Set(name string, v Value) *Builder {
	b.members.put(textKey(name), v)
	return b
}

// Value returns the object. The Builder must not be used afterwards.
func (b *Builder) Value() Value { return Value{kind: Object, ref: b.members} }

func (m *members) size() int {
	m.expand()
	return len(m.keys)
}

// get returns the member with a name.
func (m *members) get(name string) (Value, bool) { return m.find(textKey(name)) }

func (m *members) find(key string) (Value, bool) {
	if m.source != nil && m.reads < singleReads && !strings.HasPrefix(key, "\x00") {
		m.reads++
		raw, found := m.source.MemberJSON(key)
		if !found {
			return Value{}, false
		}
		if v, _ := scanValue(raw, 0, false); v.kind != Object && v.kind != Array {
			return v, true
		}
	}
	m.expand()
	if i := m.position(key); i >= 0 {
		return m.values[i], true
	}
	return Value{}, false
}

func (m *members) position(key string) int {
	if len(m.keys) > indexFrom {
		if m.index == nil {
			m.index = make(map[string]int, len(m.keys))
			for i, k := range m.keys {
				m.index[k] = i
			}
		}
		if i, ok := m.index[key]; ok {
			return i
		}
		return -1
	}
	for i, k := range m.keys {
		if k == key {
			return i
		}
	}
	return -1
}

func (m *members) put(key string, v Value) {
	m.expand()
	if i := m.position(key); i >= 0 {
		m.values[i] = v
		return
	}
	if m.index != nil {
		m.index[key] = len(m.keys)
	}
	m.keys, m.values = append(m.keys, key), append(m.values, v)
}

func (m *members) remove(key string) {
	i := m.position(key)
	if i < 0 {
		return
	}
	m.keys = append(m.keys[:i:i], m.keys[i+1:]...)
	m.values = append(m.values[:i:i], m.values[i+1:]...)
	m.index = nil
}

// textKey returns the key of a text. Only a text that starts with NUL differs from its key.
func textKey(name string) string {
	if strings.HasPrefix(name, "\x00") {
		return "\x00s" + name
	}
	return name
}

// encodeKey returns the key of a value, so that equal values have equal keys. A list or object is no key.
func encodeKey(v Value) (string, bool) {
	switch v.kind {
	case String:
		return textKey(v.text), true
	case Null:
		return "\x00n", true
	case Undefined:
		return "\x00u", true
	case Bool, Int:
		return "\x00i" + v.bigInt().String(), true
	case Float:
		if f := v.float(); f == float64(int64(f)) {
			return "\x00i" + IntValue(int64(f)).bigInt().String(), true
		}
		return "\x00f" + printText(v), true
	case dateTime, date, span:
		return "\x00d" + Literal(v), true
	case Array:
		if l := v.ref.(*list); l.form == tuple {
			for _, item := range l.items {
				if _, ok := encodeKey(item); !ok {
					return "", false
				}
			}
			return "\x00t" + printText(v), true
		}
	}
	return "", false
}

// decodeKey returns the value of a key.
func decodeKey(key string) Value {
	if !strings.HasPrefix(key, "\x00") || len(key) < 2 {
		return StringValue(key)
	}
	rest := key[2:]
	switch key[1] {
	case 's':
		return StringValue(rest)
	case 'n':
		return None
	case 'i':
		v, _ := digitsValue(rest)
		return v
	case 'f', 't':
		v, _ := readLiteral(rest)
		return v
	}
	return Value{}
}
