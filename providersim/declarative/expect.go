package declarative

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/declarative/describe"
	"github.com/pdpp-go/pdpp/declarative/document"
	"github.com/pdpp-go/pdpp/declarative/expression"
	"github.com/pdpp-go/pdpp/protocol"
)

// expected returns the record that a row must become for a reader, and false if there must be none.
func (e *endpoint) expected(r *reader, p *partition, row *row) ([]byte, bool) {
	raw := row.items[listName(r.path)]
	if e.isSingle() && len(r.path) == 0 {
		raw, _ = e.answerBody(p, []*placed{{row, 1}}, facts{k: 1, pages: 1, n: 1, total: 1})
	}
	s := r.Retriever.Selector
	changed, err := e.transform(r, p, raw)
	if err != nil {
		return nil, false
	}
	if s.Filter != nil && s.Filter.Condition.IsSet() {
		of := raw
		if s.TransformBefore {
			of = changed
		}
		if holds, err := s.Filter.Condition.Bool(e.recordContext(s.Filter, p, of)); err == nil && !holds {
			return nil, false
		}
	}
	if s.Normalization == "Default" {
		changed = normalized(r, changed)
	}
	return changed, true
}

func (e *endpoint) recordContext(c document.Component, p *partition, raw []byte) *expression.Context {
	out := e.p.context(c)
	out.Set(expression.Record, expression.LazyJSON(raw))
	out.Set(expression.StreamSlice, p.slice)
	out.Set(expression.NextPageToken, expression.None)
	return out
}

// transform applies the transformations of a stream.
func (e *endpoint) transform(r *reader, p *partition, raw []byte) ([]byte, error) {
	record, err := decode(raw)
	if err != nil || len(r.Transformations) == 0 {
		return raw, err
	}
	for _, c := range r.Transformations {
		context := func(of document.Component) *expression.Context {
			return e.recordContext(of, p, encode(record))
		}
		switch t := c.(type) {
		case *document.AddFields:
			err = addFields(t, record, context)
		case *document.RemoveFields:
			for _, path := range t.Pointers {
				removeAt(record, path, func(v any) bool {
					if !t.Condition.IsSet() {
						return true
					}
					c := context(t)
					c.Set(expression.Property, expression.LazyJSON(encode(v)))
					holds, err := t.Condition.Bool(c)
					return err == nil && holds
				})
			}
		case *document.KeysToLower:
			record = renamed(record, strings.ToLower)
		case *document.KeysToSnakeCase:
			record = renamed(record, snakeCase)
		case *document.KeysReplace:
			old, oldErr := t.Old.Text(context(t))
			with, newErr := t.New.Text(context(t))
			if oldErr != nil || newErr != nil {
				return nil, fmt.Errorf("names cannot be replaced: %w, %w", oldErr, newErr)
			}
			record = renamed(record, func(name string) string { return strings.ReplaceAll(name, old, with) })
		case *document.FlattenFields:
			record = flattened(record, t.Lists)
		case *document.DpathFlatten:
			record, err = dpathFlattened(t, record, context)
		}
		if err != nil {
			return nil, err
		}
	}
	return encode(record), nil
}

func addFields(t *document.AddFields, record map[string]any,
	context func(document.Component) *expression.Context) error {
	for _, f := range t.Fields {
		if t.Condition.IsSet() {
			if holds, err := t.Condition.Bool(context(t)); err != nil || !holds {
				return err
			}
		}
		var path []string
		for _, part := range f.Path {
			name, err := part.Text(context(f))
			if err != nil {
				return err
			}
			path = append(path, name)
		}
		v, err := f.Value.Value(context(f))
		if err != nil {
			return err
		}
		made, err := decodeAny(cast(v, f.ValueType))
		if err != nil {
			return err
		}
		setAt(record, path, made)
	}
	return nil
}

// cast returns a value as JSON of the type that the document wants.
func cast(v expression.Value, kind string) []byte {
	text := expression.Print(v)
	switch kind {
	case "string":
		return encode(text)
	case "integer":
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			return encode(int64(n))
		}
	case "boolean":
		return encode(expression.Truth(v))
	}
	return v.AppendJSON(nil)
}

func removeAt(record map[string]any, path []string, remove func(any) bool) {
	if len(path) == 0 {
		return
	}
	for _, name := range slices.Collect(maps.Keys(record)) {
		if path[0] != name && path[0] != "*" && path[0] != "**" {
			continue
		}
		if len(path) == 1 {
			if remove(record[name]) {
				delete(record, name)
			}
		} else if inner, ok := record[name].(map[string]any); ok {
			removeAt(inner, path[1:], remove)
		}
	}
}

func renamed(record map[string]any, rename func(string) string) map[string]any {
	out := map[string]any{}
	for name, v := range record {
		if inner, ok := v.(map[string]any); ok {
			v = renamed(inner, rename)
		}
		out[rename(name)] = v
	}
	return out
}

// flattened returns the record with the members of objects, and of lists if wanted, on one level.
func flattened(record map[string]any, lists bool) map[string]any {
	out := map[string]any{}
	var add func(parent, name string, v any)
	add = func(parent, name string, v any) {
		switch inner := v.(type) {
		case map[string]any:
			for _, member := range slices.Sorted(maps.Keys(inner)) {
				add(name, member, inner[member])
			}
			if len(inner) > 0 {
				return
			}
		case []any:
			for i, item := range inner {
				if lists {
					add(name, name+"."+strconv.Itoa(i), item)
				}
			}
			if lists && len(inner) > 0 {
				return
			}
		}
		if _, taken := out[name]; taken && parent != "" {
			name = parent + "." + name
		}
		out[name] = v
	}
	for _, name := range slices.Sorted(maps.Keys(record)) {
		add("", name, record[name])
	}
	return out
}

// dpathFlattened lifts the members of one object.
func dpathFlattened(t *document.DpathFlatten, record map[string]any,
	context func(document.Component) *expression.Context) (map[string]any, error) {
	var path []string
	for _, part := range t.FieldPath {
		name, err := part.Text(context(t))
		if err != nil {
			return nil, err
		}
		path = append(path, name)
	}
	v, _ := lookup(record, path)
	inner, ok := v.(map[string]any)
	if !ok {
		return record, nil
	}
	prefix, suffix := "", ""
	if t.Keys != nil {
		for _, side := range []struct {
			t  document.Template
			to *string
		}{{t.Keys.Prefix, &prefix}, {t.Keys.Suffix, &suffix}} {
			if side.t.IsSet() {
				text, err := side.t.Text(context(t.Keys))
				if err != nil {
					return nil, err
				}
				*side.to = text
			}
		}
	}
	lifted := map[string]any{}
	for name, member := range inner {
		lifted[prefix+name+suffix] = member
	}
	if t.ReplaceRecord {
		return lifted, nil
	}
	for name := range lifted {
		if _, taken := record[name]; taken {
			return record, nil
		}
	}
	if t.DeleteOrigin {
		removeAt(record, path, func(any) bool { return true })
	}
	maps.Copy(record, lifted)
	return record, nil
}

func snakeCase(name string) string {
	var out []rune
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case unicode.IsUpper(r):
			begins := i > 0 && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1]))
			if begins && len(out) > 0 && out[len(out)-1] != '_' {
				out = append(out, '_')
			}
			out = append(out, unicode.ToLower(r))
		case unicode.IsLetter(r), unicode.IsDigit(r):
			out = append(out, r)
		case len(out) > 0 && out[len(out)-1] != '_':
			out = append(out, '_')
		}
	}
	return strings.Trim(string(out), "_")
}

// keyOf returns the key of a record, and the record as it is stored.
func keyOf(s *describe.Stream, raw []byte) (key string, stored []byte, ok bool) {
	record, err := decode(raw)
	if err != nil {
		return "", nil, false
	}
	if s.Keyless {
		canonical := jsontext.Value(bytes.Clone(raw))
		if canonical.Canonicalize() != nil {
			return "", nil, false
		}
		sum := sha256.Sum256(canonical)
		record[describe.DigestField] = hex.EncodeToString(sum[:])
	}
	var parts []string
	for _, name := range s.Key {
		part := ""
		switch v := record[name].(type) {
		case string:
			part = v
		case json.Number:
			part = v.String()
		}
		if part == "" {
			return "", nil, false
		}
		parts = append(parts, part)
	}
	if len(parts) == 1 {
		return parts[0], encode(record), true
	}
	return protocol.CompoundKey(parts...), encode(record), true
}

func decode(raw []byte) (map[string]any, error) {
	v, err := decodeAny(raw)
	if err != nil {
		return nil, err
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the item is not an object")
	}
	return object, nil
}

func decodeAny(raw []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

// encode returns v as JSON without escapes for web pages.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // only texts, numbers, lists and objects come here
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
