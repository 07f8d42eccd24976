package source

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash/maphash"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
	"github.com/pdpp-go/pdpp/declarative/describe"
	"github.com/pdpp-go/pdpp/declarative/expression"
	"github.com/pdpp-go/pdpp/protocol"
)

// selectItems returns the items of an answer. An answer without the list has none, as many providers leave an empty
// list out.
func (s *stream) selectItems(a *rest.Answer) ([]jsontext.Value, error) {
	items, found, err := s.extract(a)
	if a.NoList = !found || err != nil; s.guessed && !s.single {
		s.program.stateOf(a.Run()).ids[s] = map[string]uint64{}
	}
	return items, err
}

func (s *stream) extract(a *rest.Answer) (items []jsontext.Value, found bool, err error) {
	state := s.program.stateOf(a.Run())
	extractor := s.Retriever.Selector.Extractor
	path := make([]string, len(extractor.FieldPath))
	for i, t := range extractor.FieldPath {
		if path[i], err = templateText(t, state.context(extractor)); err != nil {
			return nil, false, err
		}
	}
	body := jsontext.Value(a.Body)
	if body.Kind() != '[' {
		return itemsAt(body, path)
	}
	elements := expression.Elements(body) // each is read as an answer of its own
	if len(path) == 0 {
		return slices.DeleteFunc(elements, isEmptyObject), true, nil
	}
	for _, element := range elements {
		some, _, err := itemsAt(element, path)
		if err != nil {
			return nil, false, err
		}
		items = append(items, some...)
	}
	return items, true, nil
}

// itemsAt returns the items of a list, or of an object that is not empty.
func itemsAt(body jsontext.Value, path []string) (items []jsontext.Value, found bool, err error) {
	values := valuesAt(body, path)
	if slices.Contains(path, "*") {
		return values, len(values) > 0, nil
	}
	if len(values) == 0 {
		return nil, false, nil
	}
	switch v := values[0]; v.Kind() {
	case '[':
		return expression.Elements(v), true, nil
	case '{':
		if !isEmptyObject(v) {
			items = []jsontext.Value{v}
		}
		return items, true, nil
	}
	return nil, false, nil
}

func isEmptyObject(v jsontext.Value) bool {
	return v.Kind() == '{' && len(bytes.Trim(v, "{} \t\r\n")) == 0
}

// pagingValue returns an answer for templates of pages: a list is its first element there.
func pagingValue(body jsontext.Value) expression.Value {
	if body.Kind() != '[' {
		return expression.LazyJSON(body)
	}
	if items := expression.LazyJSON(body).Items(); len(items) > 0 {
		return items[0]
	}
	return expression.NewObject(0).Value()
}

// valuesAt returns the values at a path, in which * matches every member.
func valuesAt(raw jsontext.Value, path []string) []jsontext.Value {
	if len(path) == 0 {
		return []jsontext.Value{raw}
	}
	name, rest := path[0], path[1:]
	var list []jsontext.Value
	switch raw.Kind() {
	case '[':
		list = expression.Elements(raw)
		if n, err := strconv.Atoi(name); err == nil && n >= 0 && n < len(list) {
			return valuesAt(list[n], rest)
		}
		if name != "*" {
			return nil
		}
	case '{':
		var found jsontext.Value
		expression.EachMember(raw, func(quoted, value jsontext.Value) bool {
			if name == "*" {
				list = append(list, value)
			} else if expression.IsName(quoted, name) {
				found = value
			}
			return true
		})
		if found != nil {
			return valuesAt(found, rest)
		}
	}
	var out []jsontext.Value
	for _, v := range list {
		out = append(out, valuesAt(v, rest)...)
	}
	return out
}

// admit reports whether the filter of the document lets an item through.
func (s *stream) admit(item rest.Item) bool {
	filter := s.Retriever.Selector.Filter
	if filter == nil || !filter.Condition.IsSet() {
		return true
	}
	raw := item.Raw
	if s.Retriever.Selector.TransformBefore {
		if changed, err := s.transform(item); err == nil {
			raw = changed.encode()
		}
	}
	c := s.recordContext(item)
	defer contexts.Put(c)
	c.Set(expression.Parameters, parametersOf(filter))
	c.Set(expression.Record, expression.LazyJSON(raw))
	holds, err := filter.Condition.Bool(c)
	return err != nil || holds // an item with an unreadable condition is not lost
}

var emptyObject = expression.NewObject(0).Value()

// contexts are released contexts.
var contexts = sync.Pool{New: func() any { return &expression.Context{} }}

// recordContext returns the inputs of templates about a record, but for the record and the parameters. The caller
// returns it to contexts.
func (s *stream) recordContext(item rest.Item) *expression.Context {
	state := s.program.stateOf(item.Run)
	out, _ := contexts.Get().(*expression.Context)
	*out = expression.Context{Now: state.now, Zone: time.LoadLocation}
	out.Set(expression.Config, state.config)
	out.Set(expression.StreamSlice, sliceOf(item.Partition))
	if slice, ok := state.slices[s]; ok {
		out.Set(expression.StreamSlice, slice)
	}
	out.Set(expression.NextPageToken, expression.None)
	return out
}

var (
	errNoKey       = errors.New("the record has no value for its key")
	errRepeatedKey = errors.New("another record of the page has the same id: name a primary_key in the file")
)

// repeats reports whether another record of the page has the same id. The second one would replace the first.
func (s *stream) repeats(item rest.Item, key string, raw jsontext.Value) bool {
	ids := s.program.stateOf(item.Run).ids[s]
	content := maphash.Bytes(keySeed, raw)
	if before, known := ids[key]; known {
		return before != content
	}
	ids[key] = content
	return false
}

// read makes a record of an item.
func (s *stream) read(item rest.Item) rest.Row {
	if item.Raw.Kind() != '{' {
		return rest.Row{Record: connectorkit.Unreadable("", errNoKey)}
	}
	object, err := s.transform(item)
	if err == nil && s.Retriever.Selector.Normalization == "Default" {
		object, err = decodeObject(s.normalize(object.encode()))
	}
	if err != nil {
		return rest.Row{Record: connectorkit.Unreadable("", err)}
	}
	defer object.release()
	raw := object.encode()
	if s.keyless {
		object.set(describe.DigestField, jsontext.Value(`"`+digestOf(raw)+`"`))
		raw = object.encode()
	}
	key, ok := keyOf(object, s.key)
	if !ok && s.guessed { // the file does not promise an id
		key, ok = digestOf(raw), true
		object.set(s.key[0], jsontext.Value(`"`+key+`"`))
		raw = object.encode()
	}
	if !ok && !s.typed {
		raw, key = s.addKey(object, digestOf(raw))
	} else if !ok {
		return rest.Row{Record: connectorkit.Unreadable("", errNoKey)}
	}
	if s.guessed && !s.single && s.repeats(item, key, raw) {
		return rest.Row{Record: connectorkit.Unreadable(key, errRepeatedKey)}
	}
	row := rest.Row{Key: key, Record: connectorkit.UpsertEncoded(raw)}
	if s.window != nil {
		row.Time = s.window.timeOf(expression.LazyJSON(raw), s.program.stateOf(item.Run))
	}
	return row
}

// addKey gives a record without a usable key one from its content: each field of the key without a value gets the
// digest. The record holds the digest as a member too, so that readers can tell it from a key of the provider.
func (s *stream) addKey(object *object, digest string) (jsontext.Value, string) {
	quoted := jsontext.Value(`"` + digest + `"`)
	for _, name := range s.key {
		if _, ok := keyOf(object, []string{name}); !ok {
			object.set(name, quoted)
		}
	}
	object.set(describe.DigestField, quoted)
	key, _ := keyOf(object, s.key) // every field has a value now
	return object.encode(), key
}

// keyOf returns the key of a record: texts and numbers, in the order of the key's fields.
func keyOf(object *object, fields []string) (string, bool) {
	parts := make([]string, len(fields))
	for i, name := range fields {
		switch v := object.value(name); v.Kind() {
		case '"':
			text, err := jsontext.AppendUnquote(nil, v)
			if err != nil {
				return "", false
			}
			parts[i] = string(text)
		case '0':
			parts[i] = string(v)
		}
		if parts[i] == "" {
			return "", false
		}
	}
	if len(parts) == 1 {
		return parts[0], true
	}
	return protocol.CompoundKey(parts...), len(parts) > 0
}

// digestOf returns the SHA-256 of the canonical form of a record.
func digestOf(raw jsontext.Value) string {
	canonical := raw.Clone()
	if canonical.Canonicalize() != nil {
		canonical = raw
	}
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:])
}
