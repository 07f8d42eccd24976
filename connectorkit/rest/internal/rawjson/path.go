package rawjson

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// SplitPath splits a path of names. An empty path is the value itself.
func SplitPath(path string) []string {
	if path == "" {
		return nil
	}
	return strings.Split(path, ".")
}

// everyElement is, in a path, every element of a list, or every member of an object.
const everyElement = "*"

// childrenOf returns the elements of a list or the values of an object, and false for another value.
func childrenOf(value jsontext.Value) ([]jsontext.Value, bool) {
	if value.Kind() != '{' {
		return ElementsOf(value)
	}
	out := []jsontext.Value{}
	EachMember(value, func(_, v []byte) bool {
		out = append(out, v)
		return true
	})
	return out, true
}

// ListAt returns the items of the list at a path. It returns false if there is no list. Below a *, an element without
// the list has no items, and an element with another value there becomes a null item, which cannot be read.
func ListAt(value jsontext.Value, path []string) ([]jsontext.Value, bool) {
	for i, name := range path {
		if name != everyElement {
			if value = MemberAt(value, path[i:i+1]); value == nil {
				return nil, false
			}
			continue
		}
		elements, ok := childrenOf(value)
		if !ok || i+1 == len(path) {
			return elements, ok
		}
		items := []jsontext.Value{}
		for _, e := range elements {
			below, ok := ListAt(e, path[i+1:])
			if v := MemberAt(e, path[i+1:i+2]); !ok && (e.Kind() != '{' || v != nil && v.Kind() != 'n') {
				below = []jsontext.Value{jsontext.Value("null")}
			}
			items = append(items, below...)
		}
		return items, true
	}
	return ElementsOf(value)
}

// ValuesAt returns the values at a path.
func ValuesAt(value jsontext.Value, path []string) []jsontext.Value {
	for i, name := range path {
		if name == everyElement {
			elements, _ := childrenOf(value)
			var out []jsontext.Value
			for _, e := range elements {
				out = append(out, ValuesAt(e, path[i+1:])...)
			}
			return out
		}
		if value = MemberAt(value, path[i:i+1]); value == nil {
			return nil
		}
	}
	return []jsontext.Value{value}
}
