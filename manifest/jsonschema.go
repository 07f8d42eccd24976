package manifest

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
)

// JSONSchema returns the JSON Schema (draft 2020-12) of a manifest, generated from the Go types and the enum
// lists. It contains every rule about a single key; Parse also checks the rules about several keys.
func JSONSchema() []byte {
	g := schemaGenerator{definitions: map[string]any{}}
	root := g.of(reflect.TypeFor[Manifest](), fieldRule{})
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["$defs"] = g.definitions
	root["title"] = "PDPP connector manifest"
	root["description"] = "What a connector declares: its streams, what it needs, how it is set up and how often to " +
		"refresh it. " +
		"Rules that span several keys are checked when the manifest is parsed."
	text, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic(err) // maps, slices, strings and numbers always encode
	}
	return append(text, '\n')
}

type schemaNode = map[string]any

// schemaGenerator creates one definition per struct and enum, by type name.
type schemaGenerator struct{ definitions map[string]any }

func (g schemaGenerator) of(t reflect.Type, r fieldRule) schemaNode {
	switch {
	case t == rawType && r.object:
		return schemaNode{"type": "object"}
	case t == rawType:
		return schemaNode{"not": schemaNode{"type": "null"}}
	case t == primaryKeyType:
		list := g.list(t, r)
		return schemaNode{"anyOf": []any{list["items"], list}}
	case t == searchType:
		return schemaNode{"anyOf": []any{g.list(reflect.TypeFor[[]string](), fieldRule{unique: true}), g.object(t)}}
	case t == variableType:
		return schemaNode{"anyOf": []any{textSchema(fieldRule{pattern: patterns["env"]}), g.object(t)}}
	case t == pathsType:
		return schemaNode{"anyOf": []any{g.list(t, r), g.object(homeType)}}
	case t.Implements(reflect.TypeFor[enumType]()):
		return g.enumeration(t)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return g.of(t.Elem(), r)
	case reflect.Struct:
		return g.object(t)
	case reflect.Map:
		return schemaNode{
			"type":                 "object",
			"propertyNames":        g.of(t.Key(), fieldRule{}),
			"additionalProperties": g.of(t.Elem(), fieldRule{}),
		}
	case reflect.Slice:
		return g.list(t, r)
	case reflect.Bool:
		return schemaNode{"type": "boolean"}
	case reflect.Int:
		return numberSchema(r)
	default:
		return textSchema(r)
	}
}

func (g schemaGenerator) enumeration(t reflect.Type) schemaNode {
	zero := reflect.Zero(t).Interface().(enumType)
	values := zero.values()
	if other, ok := zero.(aliasedEnum); ok {
		values = slices.AppendSeq(values, maps.Keys(other.aliases()))
	}
	g.definitions[t.Name()] = schemaNode{"type": "string", "enum": values}
	return reference(t)
}

func (g schemaGenerator) object(t reflect.Type) schemaNode {
	if _, known := g.definitions[t.Name()]; known {
		return reference(t)
	}
	properties, required := schemaNode{}, []string{}
	for _, f := range fieldsOf(t) {
		property := g.of(t.Field(f.index).Type, f.rule)
		property["description"] = f.doc
		properties[f.name] = property
		if f.rule.required {
			required = append(required, f.name)
		}
	}
	definition := schemaNode{"type": "object", "properties": properties}
	if closedObjects[t] {
		definition["additionalProperties"] = false
	}
	if len(required) > 0 {
		definition["required"] = required
	}
	g.definitions[t.Name()] = definition
	return reference(t)
}

func (g schemaGenerator) list(t reflect.Type, r fieldRule) schemaNode {
	node := schemaNode{"type": "array", "items": g.of(t.Elem(), fieldRule{pattern: r.pattern})}
	if r.min > 0 {
		node["minItems"] = r.min
	}
	if r.unique {
		node["uniqueItems"] = true
	}
	return node
}

func reference(t reflect.Type) schemaNode {
	return schemaNode{"$ref": "#/$defs/" + t.Name()}
}

func numberSchema(r fieldRule) schemaNode {
	node := schemaNode{"type": "integer", "minimum": r.min}
	if r.max > 0 {
		node["maximum"] = r.max
	}
	return node
}

func textSchema(r fieldRule) schemaNode {
	p := &nonBlank
	if r.pattern != nil {
		p = r.pattern
	}
	return schemaNode{"type": "string", "pattern": p.re.String()}
}
