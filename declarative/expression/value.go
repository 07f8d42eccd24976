package expression

import (
	"math"
	"math/big"
	"strconv"
)

// Kind is the kind of a value.
type Kind uint8

// The kinds of values. The kinds after Object exist only inside a template, except in the result of EvaluateTime.
const (
	Undefined Kind = iota // an absent member; prints as nothing
	Null
	Bool
	Int
	Float
	String
	Array
	Object
	dateTime
	date
	span
	method
	namespace
)

var kindNames = [...]string{"undefined", "null", "bool", "int", "float", "string", "list", "object", "datetime", "date",
	"duration", "method", "namespace"}

// String returns the name of k.
func (k Kind) String() string { return kindNames[k] }

// Value is a value of the template language. The zero Value is Undefined. Values are immutable for callers; only a
// template changes the lists and objects that it created.
type Value struct {
	kind Kind
	num  int64  // Bool, Int, and the bits of Float
	text string // String, and the digits of an Int that does not fit num
	ref  any    // *list, *members, *moment, *duration, *boundMethod, *space
}

// None is the null value.
var None = Value{kind: Null}

// BoolValue returns b as a Value.
func BoolValue(b bool) Value {
	v := Value{kind: Bool}
	if b {
		v.num = 1
	}
	return v
}

// IntValue returns n as a Value.
func IntValue(n int64) Value { return Value{kind: Int, num: n} }

// FloatValue returns f as a Value.
func FloatValue(f float64) Value { return Value{kind: Float, num: int64(math.Float64bits(f))} }

// StringValue returns s as a Value.
func StringValue(s string) Value { return Value{kind: String, text: s} }

// ArrayValue returns a list of items. The caller must not change items afterwards.
func ArrayValue(items ...Value) Value { return Value{kind: Array, ref: &list{items: items}} }

// bigValue returns n as an Int, in the compact form where it fits.
func bigValue(n *big.Int) Value {
	if n.IsInt64() {
		return IntValue(n.Int64())
	}
	return Value{kind: Int, text: n.String()}
}

// digitsValue returns the Int of a decimal text with an optional sign.
func digitsValue(text string) (Value, bool) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return IntValue(n), true
	}
	n, ok := new(big.Int).SetString(text, 10)
	if !ok {
		return Value{}, false
	}
	return bigValue(n), true
}

// Kind returns the kind of v.
func (v Value) Kind() Kind { return v.kind }

// IsNull reports whether v is null or undefined.
func (v Value) IsNull() bool { return v.kind <= Null }

// Text returns the text of a String and the empty string for every other kind.
func (v Value) Text() string {
	if v.kind == String {
		return v.text
	}
	return ""
}

// Int64 returns the number of an Int that fits, and whether it does.
func (v Value) Int64() (int64, bool) { return v.num, v.kind == Int && v.text == "" }

// Len returns the number of items or members of an Array or Object, and 0 for every other kind.
func (v Value) Len() int {
	switch v.kind {
	case Array:
		return len(v.ref.(*list).items)
	case Object:
		return v.ref.(*members).size()
	}
	return 0
}

// Items returns the items of an Array. The caller must not change them.
func (v Value) Items() []Value {
	if v.kind == Array {
		return v.ref.(*list).items
	}
	return nil
}

// Member returns the member of an Object with the name, or Undefined.
func (v Value) Member(name string) Value {
	if v.kind == Object {
		found, _ := v.ref.(*members).get(name)
		return found
	}
	return Value{}
}

// Each calls f for each member of an Object in order until f returns false.
func (v Value) Each(f func(name string, member Value) bool) {
	if v.kind != Object {
		return
	}
	m := v.ref.(*members)
	m.expand()
	for i, key := range m.keys {
		if !f(printText(decodeKey(key)), m.values[i]) {
			return
		}
	}
}

func (v Value) float() float64 { return math.Float64frombits(uint64(v.num)) }

// bigInt returns an Int or Bool as a big integer.
func (v Value) bigInt() *big.Int {
	if v.text != "" {
		n, _ := new(big.Int).SetString(v.text, 10)
		return n
	}
	return big.NewInt(v.num)
}

// number returns an Int, Bool or Float as a float.
func (v Value) number() float64 {
	switch {
	case v.kind == Float:
		return v.float()
	case v.text != "":
		f, _ := strconv.ParseFloat(v.text, 64)
		return f
	}
	return float64(v.num)
}

func (v Value) isInteger() bool { return v.kind == Int || v.kind == Bool }

func (v Value) isNumber() bool { return v.kind == Int || v.kind == Bool || v.kind == Float }

// Truth reports whether v counts as true, as Python's bool does.
func Truth(v Value) bool { return v.truth() }

// truth reports whether v counts as true in a condition.
func (v Value) truth() bool {
	switch v.kind {
	case Undefined, Null:
		return false
	case Bool, Int:
		return v.num != 0 || v.text != ""
	case Float:
		return v.float() != 0
	case String:
		return v.text != ""
	case Array:
		l := v.ref.(*list)
		return l.form == generator || len(l.items) > 0
	case Object:
		return v.ref.(*members).size() > 0
	case span:
		return !v.ref.(*duration).isZero()
	}
	return true
}
