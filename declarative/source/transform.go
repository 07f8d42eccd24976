package source

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit/rest"
	"github.com/pdpp-go/pdpp/declarative/document"
	"github.com/pdpp-go/pdpp/declarative/expression"
)

// transform applies the transformations of the document to an item.
func (s *stream) transform(item rest.Item) (*object, error) {
	o, err := decodeObject(item.Raw)
	if err != nil || len(s.Transformations) == 0 {
		return o, err
	}
	c := s.recordContext(item)
	defer contexts.Put(c)
	for _, component := range s.Transformations {
		switch t := component.(type) {
		case *document.AddFields:
			err = addFields(t, c, o)
		case *document.RemoveFields:
			err = removeFields(t, c, o)
		case *document.KeysToLower:
			o = o.renamed(strings.ToLower)
		case *document.KeysToSnakeCase:
			o = o.renamed(snakeCase)
		case *document.KeysReplace:
			var old, with string
			if old, err = templateText(t.Old, withRecord(c, t, o)); err == nil {
				if with, err = templateText(t.New, withRecord(c, t, o)); err == nil {
					o = o.renamed(func(name string) string { return strings.ReplaceAll(name, old, with) })
				}
			}
		case *document.FlattenFields:
			o = o.flattened(t.Lists)
		case *document.DpathFlatten:
			o, err = lifted(t, c, o)
		default:
			err = fmt.Errorf("%s %w", document.BaseOf(component).Type, ErrUnsupported)
		}
		if err != nil {
			return nil, err
		}
	}
	return o, nil
}

// withRecord prepares the inputs of a component's templates: its parameters, and the record as it is now.
func withRecord(c *expression.Context, of document.Component, o *object) *expression.Context {
	c.Set(expression.Parameters, parametersOf(of))
	c.Set(expression.Record, expression.LazyObject(o))
	return c
}

// checkTransformations returns why a transformation cannot be used, or nil.
func checkTransformations(all []document.Component) error {
	for _, c := range all {
		switch c.(type) {
		case *document.AddFields, *document.RemoveFields, *document.KeysToLower, *document.KeysToSnakeCase,
			*document.KeysReplace, *document.FlattenFields, *document.DpathFlatten:
		default:
			return fmt.Errorf("%s %w", document.BaseOf(c).Type, ErrUnsupported)
		}
	}
	return nil
}

func addFields(t *document.AddFields, c *expression.Context, o *object) error {
	for _, f := range t.Fields {
		if t.Condition.IsSet() {
			holds, err := t.Condition.Bool(withRecord(c, t, o))
			if err != nil || !holds {
				return err
			}
		}
		v, err := f.Value.Value(withRecord(c, f, o))
		if err != nil {
			return err
		}
		raw := castValue(v, f.ValueType)
		if len(f.Path) == 1 && f.Path[0].IsFixed() {
			o.set(f.Path[0].Source(), raw)
			continue
		}
		path := make([]string, len(f.Path))
		for i, part := range f.Path {
			if path[i], err = templateText(part, withRecord(c, f, o)); err != nil {
				return err
			}
		}
		o.setAt(path, raw)
	}
	return nil
}

// castValue returns a value as JSON of the declared type. Without a type it stays what the template made of it.
func castValue(v expression.Value, kind string) jsontext.Value {
	switch kind {
	case "string":
		b, _ := jsontext.AppendQuote(nil, expression.Print(v)) // the result of a template is UTF-8
		return b
	case "integer", "number":
		text := expression.Print(v)
		if n, err := strconv.ParseFloat(text, 64); err == nil && n == n {
			if kind == "integer" {
				return jsontext.Value(strconv.FormatInt(int64(n), 10))
			}
			return v.AppendJSON(nil)
		}
	case "boolean":
		return jsontext.Value(strconv.FormatBool(expression.Truth(v)))
	}
	return v.AppendJSON(nil)
}

func removeFields(t *document.RemoveFields, c *expression.Context, o *object) error {
	var problem error
	for _, path := range t.Pointers {
		if len(path) == 0 {
			continue
		}
		o.removeAt(path, func(v jsontext.Value) bool {
			if !t.Condition.IsSet() {
				return true
			}
			withRecord(c, t, o)
			c.Set(expression.Property, expression.LazyJSON(v))
			holds, err := t.Condition.Bool(c)
			problem = errors.Join(problem, err)
			return err == nil && holds
		})
	}
	return problem
}

// renamed returns the object with other names, at every depth.
func (o *object) renamed(rename func(string) string) *object {
	out := &object{}
	for i := range o.members {
		v := o.members[i].value
		if inner, err := decodeObject(v); err == nil {
			v = inner.renamed(rename).encode()
		}
		out.set(rename(o.members[i].name()), v)
	}
	return out
}

// flattened returns the object with nested members on its own level. A name that exists already gets the name of the
// object before it.
func (o *object) flattened(lists bool) *object {
	out := &object{}
	var add func(parent, name string, v jsontext.Value)
	add = func(parent, name string, v jsontext.Value) {
		if inner, err := decodeObject(v); err == nil && len(inner.members) > 0 {
			for i := range inner.members {
				add(name, inner.members[i].name(), inner.members[i].value)
			}
			return
		}
		var items []jsontext.Value
		if lists && v.Kind() == '[' && json.Unmarshal(v, &items) == nil && len(items) > 0 {
			for i, item := range items {
				add(name, name+"."+strconv.Itoa(i), item)
			}
			return
		}
		if parent != "" && out.at(name) >= 0 {
			name = parent + "." + name
		}
		out.set(name, v)
	}
	for i := range o.members {
		add("", o.members[i].name(), o.members[i].value)
	}
	return out
}

// snakeCase returns a name in small letters with underscores between words.
func snakeCase(name string) string {
	var out []rune
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case unicode.IsUpper(r):
			if i > 0 && (unicode.IsLower(runes[i-1]) || unicode.IsDigit(runes[i-1]) ||
				i+1 < len(runes) && unicode.IsLower(runes[i+1]) && unicode.IsUpper(runes[i-1])) {
				out = append(out, '_')
			}
			out = append(out, unicode.ToLower(r))
		case unicode.IsLetter(r), unicode.IsDigit(r):
			out = append(out, r)
		default:
			if len(out) > 0 && out[len(out)-1] != '_' {
				out = append(out, '_')
			}
		}
	}
	return strings.Trim(string(out), "_")
}
