package rest

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit/rest/internal/rawjson"
)

// value returns the value of a field, or nil if it has none.
func (f *compiledField) value(s *itemScan) (jsontext.Value, error) {
	v, err := f.origin(s)
	if err == nil && v != nil {
		v, err = f.refined(v)
	}
	if err != nil {
		return nil, err
	}
	if v == nil && f.fallback != "" {
		v = jsontext.Value(f.fallback)
	}
	return v, nil
}

// origin returns what the item, its partition or a function has for the field.
func (f *compiledField) origin(s *itemScan) (v jsontext.Value, err error) {
	switch f.kind {
	case fieldFrom:
		for _, path := range f.from {
			if v = s.at(path); v != nil && !(f.nonEmpty && isEmpty(v)) {
				break
			}
		}
	case fieldNumberText:
		return numberText(s.at(f.from[0]))
	case fieldPartition:
		if text, ok := s.item.Partition.Values[f.text]; ok {
			return jsontext.AppendQuote(nil, text)
		}
	case fieldJoined:
		return f.joined(s)
	case fieldConstant:
		v = jsontext.Value(f.text)
	case fieldEach:
		v = f.elements(s)
	case fieldObjects:
		v = f.objects(s)
	case fieldComputed:
		return f.compute(s.item)
	}
	return v, nil
}

// refined returns a value as the methods of Field ask for it, or nil if it counts as none.
func (f *compiledField) refined(v jsontext.Value) (_ jsontext.Value, err error) {
	if f.nonEmpty && isEmpty(v) {
		return nil, nil
	}
	if f.meanings != nil && f.kind != fieldObjects {
		if v, err = f.translated(v); err != nil || v == nil {
			return nil, err
		}
	}
	if f.clock != clockUnchanged {
		if v, err = f.inUTC(v); err != nil || v == nil {
			return nil, err
		}
	}
	if f.listed {
		v = append(rawjson.AppendCompact(jsontext.Value("["), v), ']')
	}
	return v, nil
}

// numberText returns a whole number as a string, and nil for zero.
func numberText(v jsontext.Value) (jsontext.Value, error) {
	switch {
	case v == nil || string(v) == "0":
		return nil, nil
	case v.Kind() != '0' || bytes.ContainsAny(v, ".eE"):
		return nil, errKind
	}
	return append(append(append(make(jsontext.Value, 0, len(v)+2), '"'), v...), '"'), nil
}

func (f *compiledField) translated(v jsontext.Value) (jsontext.Value, error) {
	text, ok := rawjson.TextOf(v)
	if !ok {
		return nil, errKind
	}
	meaning, known := f.meanings[text]
	if !known {
		return nil, nil
	}
	return jsontext.AppendQuote(nil, meaning)
}

// maxSeconds is in the year 6325. A larger number counts something else.
const maxSeconds = 1 << 37

// inUTC returns a time in the form of records, or nil if it is not set.
func (f *compiledField) inUTC(v jsontext.Value) (jsontext.Value, error) {
	text, _ := rawjson.TextOf(v)
	var at time.Time
	if f.clock == clockSeconds {
		n, err := strconv.ParseInt(text, 10, 64)
		switch {
		case err != nil || v.Kind() != '0':
			return nil, errKind
		case n <= 0 || n > maxSeconds:
			return nil, nil
		}
		at = time.Unix(n, 0)
	} else {
		var err error
		if at, err = time.Parse(time.RFC3339, text); err != nil {
			at, err = time.Parse(basicOffset, text)
		}
		if err != nil || v.Kind() != '"' {
			return nil, errKind
		}
		if at.Year() <= 1 {
			return nil, nil
		}
	}
	return jsontext.AppendQuote(nil, at.UTC().Format(time.RFC3339Nano))
}

// basicOffset is RFC 3339 with an offset as ISO 8601 also allows it: without a colon.
const basicOffset = "2006-01-02T15:04:05Z0700"

func (f *compiledField) joined(s *itemScan) (jsontext.Value, error) {
	var texts []string
	for i := range f.inner {
		v, err := f.inner[i].value(s)
		if err != nil {
			return nil, err
		}
		text, ok := rawjson.TextOf(v)
		if v == nil || text == "" {
			return nil, nil
		}
		if layout := f.inner[i].layout; layout != "" {
			if _, err := time.Parse(layout, text); err != nil {
				return nil, err
			}
		}
		if !ok {
			return nil, errKind
		}
		texts = append(texts, text)
	}
	return jsontext.AppendQuote(nil, strings.Join(texts, f.text))
}

func (f *compiledField) elements(s *itemScan) jsontext.Value {
	var list jsontext.Value
	for _, path := range f.from {
		if list = s.at(path); list != nil {
			break
		}
	}
	if list == nil || list.Kind() != '[' {
		return list // another type is not allowed by the schema
	}
	out := jsontext.Value("[")
	rawjson.EachElement(list, func(e []byte) bool {
		v := rawjson.MemberAt(e, f.each)
		if e[0] == '"' {
			v = e
		}
		if v != nil && v[0] != 'n' && !isEmpty(v) {
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = rawjson.AppendCompact(out, v)
		}
		return true
	})
	return append(out, ']')
}

func (f *compiledField) objects(s *itemScan) jsontext.Value {
	list := s.at(f.from[0])
	if list == nil || list.Kind() != '[' {
		return list // another type is not allowed by the schema
	}
	out := jsontext.Value("[")
	rawjson.EachElement(list, func(e []byte) bool {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, '{')
		first := true
		for _, name := range slices.Sorted(maps.Keys(f.meanings)) {
			v := rawjson.MemberAt(e, rawjson.SplitPath(f.meanings[name]))
			if v == nil || v[0] == 'n' {
				continue
			}
			if !first {
				out = append(out, ',')
			}
			first = false
			out = rawjson.AppendCompact(append(append(append(out, '"'), name...), '"', ':'), v)
		}
		out = append(out, '}')
		return true
	})
	return append(out, ']')
}

// isEmpty reports whether a value is an empty string, list or object.
func isEmpty(v jsontext.Value) bool {
	switch v[0] {
	case '"':
		return len(v) == 2
	case '[', '{':
		i := rawjson.SkipSpace(v, 1)
		return v[i] == ']' || v[i] == '}'
	}
	return false
}
