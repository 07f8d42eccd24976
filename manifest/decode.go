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

// Parse reads a manifest. A document that is JSON but breaks a rule is refused
// with Problems, every fault at once; repeated keys, nulls, blank strings and wrong
// types are faults. Unknown keys are left out, except in the refresh policy, where
// they are faults. The result is valid.
func Parse(b []byte) (*Manifest, error) {
	m, _, err := Inspect(b)
	return m, err
}

// Inspect is Parse that also tells what the document says and nobody reads: its
// unknown keys and kinds.
func Inspect(b []byte) (*Manifest, Problems, error) {
	document := jsontext.Value(bytes.Clone(b))
	err := document.Format(jsontext.AllowDuplicateNames(true), jsontext.PreserveRawStrings(true))
	if err != nil {
		return nil, nil, fmt.Errorf("read manifest as JSON: %w", err)
	}
	m := new(Manifest)
	var d decoder
	d.value("", document, reflect.ValueOf(m).Elem(), rule{})
	problems := append(d.problems, m.problems().except(d.problems)...)
	if err := problems.err(); err != nil {
		return nil, d.warnings, err
	}
	return m, append(d.warnings, m.unknownKinds()...), nil
}

// decoder fills a value from well-formed JSON and notes what does not fit. What
// does not fit stays zero, so that the rest of the document is still examined.
// It judges only what the Go value cannot show afterwards.
type decoder struct{ problems, warnings Problems }

func (d *decoder) value(path string, v jsontext.Value, into reflect.Value, r rule) {
	if v.Kind() == 'n' {
		d.problems.add(path, "is null", "give it a value or leave the key out")
		return
	}
	switch t := into.Type(); {
	case t == rawType:
		d.raw(path, v, into, r)
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
		d.home(path, v, into)
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
		if d.is(path, v, 't') {
			into.SetBool(v.Kind() == 't')
		}
	case reflect.Int:
		d.number(path, v, into, r)
	default:
		panic("manifest: no decoding for " + into.Type().String())
	}
}

// home reads local paths in their other spelling. Its faults are found here, where
// the keys that the author wrote are known.
func (d *decoder) home(path string, v jsontext.Value, into reflect.Value) {
	var h homePaths
	d.object(path, v, reflect.ValueOf(&h).Elem())
	var shape Problems
	shape.shape(path, reflect.ValueOf(h), rule{})
	if shape = shape.except(d.problems); len(shape) > 0 {
		d.problems = append(d.problems, shape...)
		return
	}
	into.Set(reflect.ValueOf(h.list()))
}

// is reports whether v is of the kind and notes a problem otherwise.
func (d *decoder) is(path string, v jsontext.Value, kind jsontext.Kind) bool {
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
				d.value(member(path, name), v, into.Field(f.index), f.rule)
				return
			}
		}
		known := make([]string, len(fields))
		for i, f := range fields {
			known[i] = f.name
		}
		if !closed[into.Type()] {
			d.warnings.add(member(path, name), "is not a known key", "it has no effect; the keys known here are "+strings.Join(known, ", "))
			return
		}
		d.problems.add(member(path, name), "is not a known key", "remove it or use one of "+strings.Join(known, ", "))
	})
}

func (d *decoder) mapping(path string, v jsontext.Value, into reflect.Value) {
	t := into.Type()
	into.Set(reflect.MakeMap(t))
	d.members(path, v, func(name string, v jsontext.Value) {
		value := reflect.New(t.Elem()).Elem()
		d.value(member(path, name), v, value, rule{})
		into.SetMapIndex(reflect.ValueOf(name).Convert(t.Key()), value)
	})
}

// members calls visit for each key of an object and refuses repeated ones.
func (d *decoder) members(path string, v jsontext.Value, visit func(string, jsontext.Value)) {
	if !d.is(path, v, '{') {
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
			d.problems.add(member(path, name), "appears twice", "keep one of the two")
			continue
		}
		seen[name] = true
		visit(name, value)
	}
}

func (d *decoder) list(path string, v jsontext.Value, into reflect.Value) {
	if !d.is(path, v, '[') {
		return
	}
	into.Set(reflect.MakeSlice(into.Type(), 0, 0))
	dec := jsontext.NewDecoder(bytes.NewReader(v), jsontext.AllowDuplicateNames(true))
	dec.ReadToken()
	for i := 0; dec.PeekKind() != ']'; i++ {
		item, _ := dec.ReadValue()
		value := reflect.New(into.Type().Elem()).Elem()
		d.value(element(path, i), item, value, rule{})
		into.Set(reflect.Append(into, value))
	}
}

func (d *decoder) text(path string, v jsontext.Value, into reflect.Value) {
	if !d.is(path, v, '"') {
		return
	}
	text, _ := jsontext.AppendUnquote(nil, v)
	if e, ok := into.Interface().(aliased); ok {
		if value, ok := e.aliases()[string(text)]; ok {
			text = []byte(value)
		}
	}
	into.SetString(string(text))
	if len(text) == 0 {
		d.problems.add(path, "is blank", nonBlank.mend)
	}
}

func (d *decoder) number(path string, v jsontext.Value, into reflect.Value, r rule) {
	if !d.is(path, v, '0') {
		return
	}
	n, err := strconv.ParseInt(string(v), 10, 64)
	if err != nil || !r.allows(n) || into.OverflowInt(n) {
		d.problems.add(path, "is "+string(v), r.limits())
		return
	}
	into.SetInt(n)
}

// raw keeps a value as it stands, once it is known to repeat no key: of two
// equal keys, readers would disagree about which one counts.
func (d *decoder) raw(path string, v jsontext.Value, into reflect.Value, r rule) {
	if r.object && !d.is(path, v, '{') {
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
