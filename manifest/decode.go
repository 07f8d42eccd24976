package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Parse parses and validates a manifest. If the document is JSON but violates rules, the error is Problems with
// all of them. Repeated keys, nulls, blank strings and wrong types are problems. Unknown keys are ignored, except
// in the refresh policy, where they are problems.
func Parse(b []byte) (*Manifest, error) {
	m, _, err := Inspect(b)
	return m, err
}

// Inspect does the same as Parse and also returns warnings about unknown keys and kinds, which are ignored.
func Inspect(b []byte) (*Manifest, Problems, error) {
	document := jsontext.Value(bytes.Clone(b))
	err := document.Format(jsontext.AllowDuplicateNames(true), jsontext.PreserveRawStrings(true))
	if err != nil {
		return nil, nil, fmt.Errorf("read manifest as JSON: %w", err)
	}
	m := new(Manifest)
	var d decoder
	d.value("", document, reflect.ValueOf(m).Elem(), fieldRule{})
	problems := append(d.problems, m.problems().withoutKnown(d.problems)...)
	if err := problems.asError(); err != nil {
		return nil, d.warnings, err
	}
	return m, append(d.warnings, m.unknownKinds()...), nil
}

// decoder fills a value from well-formed JSON and records problems. An invalid part stays zero, so that the rest
// of the document is still checked. The decoder only checks what the Go value cannot show afterwards.
type decoder struct{ problems, warnings Problems }

func (d *decoder) value(path string, v jsontext.Value, into reflect.Value, r fieldRule) {
	if v.Kind() == 'n' {
		d.problems.add(path, "is null", "set a value or remove the key")
		return
	}
	switch t := into.Type(); {
	case t == rawType:
		d.rawValue(path, v, into, r)
		return
	case t == primaryKeyType && v.Kind() == '"':
		v = jsontext.Value("[" + string(v) + "]")
	case t == variableType && v.Kind() == '"':
		d.value(path, v, into.FieldByName("Name"), r)
		return
	case t == searchType && v.Kind() == '[':
		d.value(path, v, into.FieldByName("LexicalFields"), r)
		return
	case t == pathsType && v.Kind() == '{':
		d.homePaths(path, v, into)
		return
	}
	switch into.Kind() {
	case reflect.Pointer:
		into.Set(reflect.New(into.Type().Elem()))
		d.value(path, v, into.Elem(), r)
	case reflect.Struct:
		d.object(path, v, into)
	case reflect.Map:
		d.mapping(path, v, into)
	case reflect.Slice:
		d.list(path, v, into)
	case reflect.String:
		d.text(path, v, into)
	case reflect.Bool:
		if d.hasKind(path, v, 't') {
			into.SetBool(v.Kind() == 't')
		}
	case reflect.Int:
		d.number(path, v, into, r)
	default:
		panic("manifest: no decoding for " + into.Type().String())
	}
}

// homePaths decodes local paths in their alternative form. It reports the problems, because only it knows the keys
// that the author wrote.
func (d *decoder) homePaths(path string, v jsontext.Value, into reflect.Value) {
	var h homePaths
	d.object(path, v, reflect.ValueOf(&h).Elem())
	var shape Problems
	shape.shape(path, reflect.ValueOf(h), fieldRule{})
	if shape = shape.withoutKnown(d.problems); len(shape) > 0 {
		d.problems = append(d.problems, shape...)
		return
	}
	into.Set(reflect.ValueOf(h.list()))
}

// hasKind reports whether v is of the kind. If not, it records a problem.
func (d *decoder) hasKind(path string, v jsontext.Value, kind jsontext.Kind) bool {
	if kindName(v.Kind()) == kindName(kind) {
		return true
	}
	d.problems.add(path, "is "+kindName(v.Kind()), "make it "+kindName(kind))
	return false
}

func kindName(k jsontext.Kind) string {
	switch k {
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '{':
		return "an object"
	case '[':
		return "a list"
	default:
		return "true or false"
	}
}

func (d *decoder) object(path string, v jsontext.Value, into reflect.Value) {
	fields := fieldsOf(into.Type())
	d.members(path, v, func(name string, v jsontext.Value) {
		for _, f := range fields {
			if f.name == name {
				d.value(memberPath(path, name), v, into.Field(f.index), f.rule)
				return
			}
		}
		known := make([]string, len(fields))
		for i, f := range fields {
			known[i] = f.name
		}
		if !closedObjects[into.Type()] {
			d.warnings.add(
				memberPath(path, name),
				"is not a known key",
				"it has no effect; the keys known here are "+strings.Join(known, ", "),
			)
			return
		}
		d.problems.add(memberPath(path, name), "is not a known key", "remove it or use one of "+strings.Join(known, ", "))
	})
}

func (d *decoder) mapping(path string, v jsontext.Value, into reflect.Value) {
	t := into.Type()
	into.Set(reflect.MakeMap(t))
	d.members(path, v, func(name string, v jsontext.Value) {
		value := reflect.New(t.Elem()).Elem()
		d.value(memberPath(path, name), v, value, fieldRule{})
		into.SetMapIndex(reflect.ValueOf(name).Convert(t.Key()), value)
	})
}

// members calls visit for each key of an object and rejects repeated keys.
func (d *decoder) members(path string, v jsontext.Value, visit func(string, jsontext.Value)) {
	if !d.hasKind(path, v, '{') {
		return
	}
	seen := map[string]bool{}
	dec := jsontext.NewDecoder(bytes.NewReader(v), jsontext.AllowDuplicateNames(true))
	dec.ReadToken()
	for dec.PeekKind() == '"' {
		token, _ := dec.ReadToken()
		name := token.String()
		value, _ := dec.ReadValue()
		if seen[name] {
			d.problems.add(memberPath(path, name), "appears twice", "keep one of the two")
			continue
		}
		seen[name] = true
		visit(name, value)
	}
}

func (d *decoder) list(path string, v jsontext.Value, into reflect.Value) {
	if !d.hasKind(path, v, '[') {
		return
	}
	into.Set(reflect.MakeSlice(into.Type(), 0, 0))
	dec := jsontext.NewDecoder(bytes.NewReader(v), jsontext.AllowDuplicateNames(true))
	dec.ReadToken()
	for i := 0; dec.PeekKind() != ']'; i++ {
		item, _ := dec.ReadValue()
		value := reflect.New(into.Type().Elem()).Elem()
		d.value(elementPath(path, i), item, value, fieldRule{})
		into.Set(reflect.Append(into, value))
	}
}

func (d *decoder) text(path string, v jsontext.Value, into reflect.Value) {
	if !d.hasKind(path, v, '"') {
		return
	}
	text, _ := jsontext.AppendUnquote(nil, v)
	if e, ok := into.Interface().(aliasedEnum); ok {
		if value, ok := e.aliases()[string(text)]; ok {
			text = []byte(value)
		}
	}
	into.SetString(string(text))
	if len(text) == 0 {
		d.problems.add(path, "is blank", nonBlank.fix)
	}
}

func (d *decoder) number(path string, v jsontext.Value, into reflect.Value, r fieldRule) {
	if !d.hasKind(path, v, '0') {
		return
	}
	n, err := strconv.ParseInt(string(v), 10, 64)
	if err != nil || !r.allows(n) || into.OverflowInt(n) {
		d.problems.add(path, "is "+string(v), r.limits())
		return
	}
	into.SetInt(n)
}

// rawValue keeps a JSON value unchanged if it repeats no key. Parsers disagree about which of two equal keys counts.
func (d *decoder) rawValue(path string, v jsontext.Value, into reflect.Value, r fieldRule) {
	if r.object && !d.hasKind(path, v, '{') {
		return
	}
	_, err := jsontext.NewDecoder(bytes.NewReader(v)).ReadValue()
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		d.problems.add(path, "repeats the key at "+string(syntax.JSONPointer), "keep one of the two")
		return
	}
	into.SetBytes(bytes.Clone(v))
}
