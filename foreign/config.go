package foreign

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// config returns the tap's configuration: the fixed values, overridden by the owner's variables.
func (a *Adapter) config(env func(string) string) (map[string]any, error) {
	out := map[string]any{}
	if len(a.Values) > 0 {
		if err := json.Unmarshal(a.Values, &out); err != nil {
			return nil, fmt.Errorf("read config_values: %w", err)
		}
	}
	for _, s := range a.Config {
		text := env(s.Env)
		if text == "" {
			continue
		}
		v, err := s.value(text)
		if err != nil {
			return nil, fmt.Errorf("variable %s: %w", s.Env, err)
		}
		setValueAt(out, s.Path, v)
	}
	return out, nil
}

// value parses the text of a variable. The error does not contain the text.
func (s Setting) value(text string) (any, error) {
	switch s.Type {
	case "", "string":
		return text, nil
	case "boolean":
		v, err := strconv.ParseBool(strings.TrimSpace(text))
		if err != nil {
			return nil, fmt.Errorf("is not true or false")
		}
		return v, nil
	default: // a number keeps its text
		v := jsontext.Value(strings.TrimSpace(text))
		if !v.IsValid() || s.Type != "json" && v.Kind() != '0' {
			return nil, fmt.Errorf("is not of type %s", s.Type)
		}
		return v, nil
	}
}

func setValueAt(object map[string]any, path []string, v any) {
	for _, name := range path[:len(path)-1] {
		inner, ok := object[name].(map[string]any)
		if !ok {
			inner = map[string]any{}
			object[name] = inner
		}
		object = inner
	}
	object[path[len(path)-1]] = v
}

// text returns a value in the form of its variable.
func (s Setting) text(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	return string(encodeJSON(v))
}

func valueAt(object map[string]any, path []string) (any, bool) {
	for _, name := range path[:len(path)-1] {
		inner, ok := object[name].(map[string]any)
		if !ok {
			return nil, false
		}
		object = inner
	}
	v, ok := object[path[len(path)-1]]
	return v, ok
}

// rotated returns the secrets that a newer configuration of the tap has changed, by variable.
func (a *Adapter) rotated(old, now map[string]any, secret []string) map[string]string {
	changed := map[string]string{}
	for _, s := range a.Config {
		v, there := valueAt(now, s.Path)
		if !there || v == nil || !slices.Contains(secret, s.Env) {
			continue
		}
		before, _ := valueAt(old, s.Path)
		if text := s.text(v); text != s.text(before) {
			changed[s.Env] = text
		}
	}
	return changed
}
