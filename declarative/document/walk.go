package document

import "reflect"

// Use is a template at its place.
type Use struct {
	Component Component
	Member    string // name of the member that holds the template
	Template  Template
}

// Walk calls visit for every template of a component and of the components inside of it, parents included.
func Walk(c Component, visit func(Use)) { walkValue(reflect.ValueOf(c), c, "", visit) }

func walkValue(v reflect.Value, owner Component, member string, visit func(Use)) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return
		}
		if c, ok := v.Interface().(Component); ok {
			walkMembers(reflect.ValueOf(c).Elem(), c, visit)
		}
	case reflect.Slice:
		for i := range v.Len() {
			walkValue(v.Index(i), owner, member, visit)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			walkValue(v.MapIndex(key), owner, member, visit)
		}
	case reflect.Struct:
		switch t := v.Interface().(type) {
		case Template:
			if t.IsSet() {
				visit(Use{owner, member, t})
			}
		case Inputs, Entry, Input:
			for i := range v.NumField() {
				walkValue(v.Field(i), owner, member, visit)
			}
		}
	}
}

func walkMembers(v reflect.Value, owner Component, visit func(Use)) {
	for i := range v.NumField() {
		if name := v.Type().Field(i).Tag.Get("decl"); name != "" {
			walkValue(v.Field(i), owner, name, visit)
		}
	}
}
