package document

import (
	"bytes"
	"reflect"
)

// SameStream reports whether two streams read the same: they differ at most in their place in the file.
func SameStream(a, b *Stream) bool { return same(reflect.ValueOf(a), reflect.ValueOf(b)) }

func same(a, b reflect.Value) bool {
	switch x := a.Interface().(type) {
	case Base:
		y := b.Interface().(Base)
		return x.Type == y.Type && bytes.Equal(x.Parameters.AppendJSON(nil), y.Parameters.AppendJSON(nil))
	case *Node:
		y := b.Interface().(*Node)
		return x == y || x != nil && y != nil && bytes.Equal(x.AppendJSON(nil), y.AppendJSON(nil))
	case Template:
		return x == b.Interface() // equal texts share a template
	}
	switch a.Kind() {
	case reflect.Pointer, reflect.Interface:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() == b.IsNil()
		}
		return a.Elem().Type() == b.Elem().Type() && same(a.Elem(), b.Elem())
	case reflect.Struct:
		for i := range a.NumField() {
			if !same(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Slice:
		for i := range min(a.Len(), b.Len()) {
			if !same(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return a.Len() == b.Len()
	case reflect.Map:
		for _, name := range a.MapKeys() {
			if other := b.MapIndex(name); !other.IsValid() || !same(a.MapIndex(name), other) {
				return false
			}
		}
		return a.Len() == b.Len()
	}
	return a.Equal(b)
}
