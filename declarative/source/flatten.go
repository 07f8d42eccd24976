package source

import (
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/declarative/document"
	"github.com/pdpp-go/pdpp/declarative/expression"
)

// lifted returns the object with the members of one inner object beside its own. If a name exists already, nothing
// changes.
func lifted(t *document.DpathFlatten, c *expression.Context, o *object) (*object, error) {
	withRecord(c, t, o)
	var err error
	path := make([]string, len(t.FieldPath))
	for i, part := range t.FieldPath {
		if path[i], err = templateText(part, c); err != nil {
			return nil, err
		}
	}
	found := valuesAt(o.encode(), path)
	if len(found) == 0 {
		return o, nil
	}
	var inner, own map[string]jsontext.Value
	if json.Unmarshal(found[0], &inner) != nil || json.Unmarshal(o.encode(), &own) != nil {
		return o, nil // not an object
	}
	if t.Keys != nil {
		withRecord(c, t.Keys, o)
		prefix, err := templateText(t.Keys.Prefix, c)
		if err != nil {
			return nil, err
		}
		suffix, err := templateText(t.Keys.Suffix, c)
		if err != nil {
			return nil, err
		}
		renamed := make(map[string]jsontext.Value, len(inner))
		for name, v := range inner {
			renamed[prefix+name+suffix] = v
		}
		inner = renamed
	}
	names := slices.Sorted(maps.Keys(inner))
	switch {
	case t.ReplaceRecord && len(inner) > 0:
		if o, err = decodeObject(jsontext.Value("{}")); err != nil {
			return nil, err
		}
	case slices.ContainsFunc(names, func(name string) bool { return own[name] != nil }):
		return o, nil
	case t.DeleteOrigin:
		o.removeAt(path, func(jsontext.Value) bool { return true })
	}
	for _, name := range names {
		o.set(name, inner[name])
	}
	return o, nil
}
