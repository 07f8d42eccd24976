package manifest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// shape checks each value under v against the rule of its field and its enum.
// A zero string, number, pointer or list is absent and passes unless required.
func (ps *Problems) shape(path string, v reflect.Value, r fieldRule) {
	switch {
	case v.Type() == rawType:
		ps.rawShape(path, v, r)
		return
	case v.IsZero() && v.Kind() != reflect.Struct:
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		ps.shape(path, v.Elem(), r)
	case reflect.Struct:
		for _, f := range fieldsOf(v.Type()) {
			ps.fieldShape(memberPath(path, f.name), v.Field(f.index), f.rule)
		}
	case reflect.Map:
		ps.mapShape(path, v)
	case reflect.Slice:
		ps.listShape(path, v, r)
	case reflect.String:
		ps.textShape(path, v, r)
	case reflect.Int:
		if !r.allows(v.Int()) {
			ps.add(path, fmt.Sprintf("is %d", v.Int()), r.limits())
		}
	}
}

func (ps *Problems) fieldShape(path string, v reflect.Value, r fieldRule) {
	if r.required && (v.IsZero() || v.Type() == rawType && v.Len() == 0) {
		ps.add(path, "is missing", "add it")
		return
	}
	ps.shape(path, v, r)
}

func (ps *Problems) mapShape(path string, v reflect.Value) {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	for _, key := range keys {
		at := memberPath(path, key.String())
		if e, ok := key.Interface().(enumType); ok && !e.Valid() {
			ps.add(at, "is not a known key", joinAlternatives(e))
			continue
		}
		ps.shape(at, v.MapIndex(key), fieldRule{})
	}
}

func (ps *Problems) listShape(path string, v reflect.Value, r fieldRule) {
	if v.Len() < r.min {
		ps.add(path, "is empty", "list at least one value or leave the key out")
	}
	seen := map[string]bool{}
	for i := range v.Len() {
		at := elementPath(path, i)
		item := v.Index(i)
		if item.Kind() == reflect.String {
			if item.Len() == 0 {
				ps.add(at, "is blank", "remove it from the list")
			}
			if r.unique && seen[item.String()] {
				ps.add(at, quoteShort(item.String())+" is listed twice", "list it once")
			}
			seen[item.String()] = true
		}
		ps.shape(at, item, fieldRule{pattern: r.pattern})
	}
}

func (ps *Problems) textShape(path string, v reflect.Value, r fieldRule) {
	text := v.String()
	if e, ok := v.Interface().(enumType); ok {
		if !e.Valid() {
			ps.add(path, quoteShort(text)+" is not a known value", joinAlternatives(e))
		}
		return
	}
	if !nonBlank.re.MatchString(text) {
		ps.add(path, "is blank", nonBlank.fix)
		return
	}
	if r.pattern != nil && !r.pattern.re.MatchString(text) {
		ps.add(path, quoteShort(text)+" is spelt wrongly", r.pattern.fix)
	}
}

func (ps *Problems) rawShape(path string, v reflect.Value, r fieldRule) {
	raw := jsontext.Value(v.Bytes())
	switch {
	case len(raw) == 0:
		return
	case !raw.IsValid():
		ps.add(path, "is not JSON with unique keys", "write one JSON value")
	case r.object && raw.Kind() != '{':
		ps.add(path, "is "+kindName(raw.Kind()), "make it "+kindName('{'))
	case raw.Kind() == 'n':
		ps.add(path, "is null", "set a value or remove the key")
	}
}

func joinAlternatives(e enumType) string {
	return "use one of " + strings.Join(e.values(), ", ")
}
