package source

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/declarative/describe"
)

// configOf returns the settings as a JSON object. Settings that the owner left empty have their default, if any.
func configOf(settings []describe.Setting, env func(string) string) (jsontext.Value, error) {
	out := map[string]any{}
	chosen := map[string]string{} // titles of the chosen alternatives, by the name of the choice
	choices := describe.Choices(settings)
	for _, c := range choices {
		title := c.Chosen(settings, env)
		if title == "" {
			return nil, fmt.Errorf("setting %s is not one of %s", c.Name(), strings.Join(c.Options, ", "))
		}
		chosen[c.Name()] = title
	}
	for _, s := range settings {
		if slices.ContainsFunc(choices, func(c describe.Choice) bool {
			return c.Covers(s) && chosen[c.Name()] != s.Choice
		}) {
			continue
		}
		text := s.Constant
		if text == "" {
			text = env(s.Env)
		}
		v, err := settingValue(s, text)
		if err != nil {
			return nil, fmt.Errorf("setting %s %w", s.Name(), err)
		}
		if v != nil {
			setConfig(out, s.Path, v)
		}
	}
	return json.Marshal(out, json.Deterministic(true))
}

// settingValue parses the text of a setting. The error does not contain the text.
func settingValue(s describe.Setting, text string) (any, error) {
	switch {
	case text == "" && s.Default != nil:
		return jsontext.Value(s.Default.AppendJSON(nil)), nil
	case text == "":
		return nil, nil
	}
	switch s.Type {
	case "integer", "number", "array", "object", "boolean":
		v := jsontext.Value(strings.TrimSpace(text))
		if !v.IsValid() {
			return nil, errors.New("is not of type " + s.Type)
		}
		return v, nil
	}
	return text, nil
}

func setConfig(object map[string]any, path []string, v any) {
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
