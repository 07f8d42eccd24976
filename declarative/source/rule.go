package source

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/declarative/document"
	"github.com/pdpp-go/pdpp/declarative/expression"
)

// applyRules changes the settings as the document declares: first its migrations of older settings, then the rest.
func applyRules(rules *document.Rules, config jsontext.Value, newContext func() *expression.Context) (jsontext.Value,
	error) {
	if rules == nil {
		return config, nil
	}
	var all []document.Component
	for _, m := range rules.Migrations {
		all = append(all, m.Transformations...)
	}
	all = append(all, rules.Transformations...)
	for _, rule := range all {
		o, err := decodeObject(config)
		if err != nil {
			return nil, fmt.Errorf("the settings are not an object: %w", err)
		}
		if err := applyRule(rule, o, newContext); err != nil {
			return nil, fmt.Errorf("rule of the settings at %s: %w", document.BaseOf(rule).Path, err)
		}
		config = o.encode()
	}
	return config, nil
}

func applyRule(rule document.Component, o *object, newContext func() *expression.Context) error {
	now := func() *expression.Context {
		c := newContext()
		c.Set(expression.Config, expression.LazyJSON(o.encode()))
		return c
	}
	switch r := rule.(type) {
	case *document.ConfigAddFields:
		for _, f := range r.Fields {
			if holds, err := ruleHolds(r.Condition, now()); err != nil || !holds {
				return err
			}
			path, err := texts(f.Path, now())
			if err != nil {
				return err
			}
			v, err := f.Value.Value(now())
			if err != nil {
				return err
			}
			o.setAt(path, castValue(v, f.ValueType))
		}
	case *document.ConfigRemoveFields:
		if holds, err := ruleHolds(r.Condition, now()); err != nil || !holds {
			return err
		}
		for _, path := range r.Pointers {
			o.removeAt(path, func(jsontext.Value) bool { return true })
		}
	case *document.ConfigRemapField:
		path, err := texts(r.FieldPath, now())
		if err != nil {
			return err
		}
		values, err := r.Map.JSON(now())
		if err != nil {
			return err
		}
		old := memberAt(expression.LazyJSON(o.encode()), path)
		if fresh := values.Member(expression.Print(old)); !old.IsNull() && !fresh.IsNull() {
			o.setAt(path, fresh.AppendJSON(nil))
		}
	default:
		return fmt.Errorf("%s %w", document.BaseOf(rule).Type, ErrUnsupported)
	}
	return nil
}

func ruleHolds(condition document.Template, c *expression.Context) (bool, error) {
	if !condition.IsSet() {
		return true, nil
	}
	return condition.Bool(c)
}

// texts evaluates templates as texts.
func texts(all []document.Template, c *expression.Context) ([]string, error) {
	out := slices.Grow([]string(nil), len(all))
	for _, t := range all {
		text, err := templateText(t, c)
		if err != nil {
			return nil, err
		}
		out = append(out, text)
	}
	return out, nil
}
