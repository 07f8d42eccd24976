package openapi

import (
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
	"time"
)

var (
	timeType    = reflect.TypeFor[time.Time]()
	timePointer = reflect.TypeFor[*time.Time]()
	rawType     = reflect.TypeFor[json.RawMessage]()
)

// key is a struct type as it is in answers, or as it is in requests, where fewer members are required.
type key struct {
	typ  reflect.Type
	asks bool
}

type builder struct {
	head     Head
	source   *source
	named    map[key]string
	schemas  map[string]Object
	problems []string
	later    []func() // what needs the names of all types
}

func reference(name string) Object { return Object{{"$ref", "#/components/schemas/" + name}} }

// typeName returns the name of a type with that of its package.
func typeName(t reflect.Type) string { return path.Base(t.PkgPath()) + "." + t.Name() }

// schemaOf returns the schema of a type; nil for none.
func (b *builder) schemaOf(t reflect.Type, asks bool) Object {
	if t == nil {
		return nil
	}
	switch t {
	case timeType:
		return Object{{"type", "string"}, {"format", "date-time"}}
	case rawType:
		return Object{}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return b.schemaOf(t.Elem(), asks)
	case reflect.Struct:
		if t.Name() == "" {
			return b.structSchema(t, asks)
		}
		return reference(b.nameOf(t, asks))
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 { // JSON of any kind
			return Object{}
		}
		return Object{{"type", "array"}, {"items", b.schemaOf(t.Elem(), asks)}}
	case reflect.Map:
		return Object{{"type", "object"}, {"additionalProperties", b.mapValue(t.Elem(), asks)}}
	case reflect.String:
		schema := Object{{"type", "string"}}
		if t.Implements(reflect.TypeFor[json.Marshaler]()) { // an empty one is null
			return nullable(schema)
		}
		if t.PkgPath() != "" && slices.Contains(b.head.Closed, typeName(t)) {
			schema.add("enum", b.source.constants(t))
		}
		return schema
	case reflect.Bool:
		return Object{{"type", "boolean"}}
	case reflect.Float64:
		return Object{{"type", "number"}}
	case reflect.Int, reflect.Int64, reflect.Uint64, reflect.Int32:
		return Object{{"type", "integer"}}
	case reflect.Interface:
		return Object{}
	}
	b.problems = append(b.problems, fmt.Sprintf("no schema for %s", t))
	return Object{}
}

func (b *builder) mapValue(t reflect.Type, asks bool) any {
	if schema := b.schemaOf(t, asks); len(schema) > 0 {
		return schema
	}
	return true
}

// nameOf returns the name of a struct's schema, and makes the schema when it is the first to ask.
func (b *builder) nameOf(t reflect.Type, asks bool) string {
	if name, ok := b.named[key{t, asks}]; ok {
		return name
	}
	name, ok := b.head.Names[typeName(t)]
	if !ok {
		name = componentName(t.Name())
	}
	answered, both := b.named[key{t, false}]
	if both {
		name = answered + "Request"
	}
	if _, taken := b.schemas[name]; taken {
		b.problems = append(b.problems, fmt.Sprintf("%s: another type is called %s", typeName(t), name))
	}
	b.named[key{t, asks}], b.schemas[name] = name, nil
	schema := b.structSchema(t, asks)
	if both && same(schema, b.schemas[answered]) {
		delete(b.schemas, name)
		b.named[key{t, asks}] = answered
		return answered
	}
	if text := b.source.typeText(t, name); text != "" {
		schema = append(Object{schema[0], {"description", text}}, schema[1:]...)
	}
	b.schemas[name] = schema
	return name
}

// same reports whether two schemas differ in their descriptions at most.
func same(one, other Object) bool {
	plain := func(o Object) string {
		o = slices.DeleteFunc(slices.Clone(o), func(m Member) bool { return m.Name == "description" })
		text, _ := marshal(o)
		return string(text)
	}
	return plain(one) == plain(other)
}

func (b *builder) structSchema(t reflect.Type, asks bool) Object {
	schema := Object{{"type", "object"}}
	required, properties := b.members(t, asks)
	if len(required) > 0 {
		schema.add("required", required)
	}
	schema.add("properties", properties)
	return schema
}

func (b *builder) members(t reflect.Type, asks bool) (required []string, properties Object) {
	for i := range t.NumField() {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "-" || !field.IsExported() && !field.Anonymous:
			continue
		case field.Anonymous && name == "":
			inner := field.Type
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			r, p := b.members(inner, asks)
			required, properties = append(required, r...), append(properties, p...)
			continue
		}
		if name == "" {
			name = field.Name
		}
		optional := strings.Contains(options, "omit") || asks && field.Tag.Get("required") == "false"
		if !optional {
			required = append(required, name)
		}
		properties = append(properties, Member{name, b.property(t, field, asks, strings.Contains(options, "omit"))})
	}
	return required, properties
}

// property returns the schema of a field, with its comment.
func (b *builder) property(t reflect.Type, field reflect.StructField, asks, omitted bool) *Object {
	out := new(Object)
	text := b.source.fieldText(t, field)
	finish := func(schema Object) {
		schema = b.limited(schema, field.Tag)
		null := field.Tag.Get("nullable")
		if field.Type.Kind() == reflect.Pointer && !omitted || null == "true" || null == "request" && asks {
			schema = nullable(schema)
		}
		if text != "" {
			schema = append(slices.Clone(schema), Member{"description", text})
		}
		*out = schema
	}
	switch other := field.Tag.Get("schema"); other {
	case "":
		schema := b.schemaOf(field.Type, asks)
		if field.Tag.Get("encoded") == "json" { // a text that is JSON
			schema = Object{{"type", "string"}, {"contentMediaType", "application/json"}, {"contentSchema", schema}}
		}
		finish(schema)
	case "object":
		finish(Object{{"type", "object"}, {"additionalProperties", true}})
	default: // a type that the package of this one may not import
		b.later = append(b.later, func() { finish(b.byTypeName(other)) })
	}
	return out
}

// limited adds the format and the values that a text may have.
func (b *builder) limited(schema Object, tag reflect.StructTag) Object {
	words, form := tag.Get("enum"), tag.Get("format")
	list := strings.Split(words, ",")
	switch text := (Object{{"type", "string"}, {"format", form}}); {
	case form != "" && schema[0].Value == "array":
		return Object{schema[0], {"items", text}}
	case form != "":
		return text
	case words == "":
		return schema
	}
	switch {
	case schema[0].Value == "array":
		return Object{schema[0], {"items", Object{{"type", "string"}, {"enum", list}}}}
	case len(list) == 1:
		return Object{{"type", "string"}, {"const", words}}
	}
	return Object{{"type", "string"}, {"enum", list}}
}

// nullable returns a schema that also takes null.
func nullable(schema Object) Object {
	if len(schema) == 0 {
		return schema
	}
	if schema[0].Name == "$ref" {
		return Object{{"anyOf", []Object{schema, {{"type", "null"}}}}}
	}
	out := slices.Clone(schema)
	out[0].Value = []any{schema[0].Value, "null"}
	for i := range out {
		if list, is := out[i].Value.([]string); is && out[i].Name == "enum" {
			values := []any{}
			for _, word := range list {
				values = append(values, word)
			}
			out[i].Value = append(values, nil)
		}
	}
	return out
}

// byTypeName returns the schema of a type that an answer has, by its package and its name.
func (b *builder) byTypeName(name string) Object {
	for k, schema := range b.named {
		if typeName(k.typ) == name && !k.asks {
			return reference(schema)
		}
		if k.typ.Kind() == reflect.Struct {
			for i := range k.typ.NumField() {
				if inner := k.typ.Field(i).Type; inner.PkgPath() != "" && typeName(inner) == name {
					return b.schemaOf(inner, false)
				}
			}
		}
	}
	b.problems = append(b.problems, "no answer has the type "+name)
	return Object{}
}

func (b *builder) resolve() {
	for _, finish := range b.later {
		finish()
	}
}
