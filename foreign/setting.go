package foreign

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// configSetting is a member of a program's configuration, from its form or an example.
type configSetting struct {
	path           []string
	kind           string
	label, help    string
	secret, needed bool
	given          any // in the owner's configuration; nil if absent
}

// configForm is the part of a JSON Schema that describes a configuration.
type configForm struct {
	Type       jsontext.Value        `json:"type"`
	Properties map[string]configForm `json:"properties"`
	Required   []string              `json:"required"`
	OneOf      []configForm          `json:"oneOf"`
	Title      string                `json:"title"`
	Text       string                `json:"description"`
	Secret     bool                  `json:"secret"`
	Hidden     bool                  `json:"airbyte_secret"`
	WriteOnly  bool                  `json:"writeOnly"`
}

// secretWords match the names of members that are secrets although no form declares it.
var secretWords = regexp.MustCompile(`(?i)token|secret|passw|api_?key|private_?key|credential|authorization|cookie`)

// settingsOf returns the members that the form declares, and other members of the owner's configuration.
func settingsOf(raw jsontext.Value, given map[string]any) []configSetting {
	var top configForm
	_ = json.Unmarshal(raw, &top) // without a form only the owner's configuration counts
	found := map[string]configSetting{}
	top.collect(nil, given, false, found)
	collectGiven(nil, given, found)
	var out []configSetting
	for _, name := range slices.Sorted(maps.Keys(found)) {
		out = append(out, found[name])
	}
	return out
}

// collect adds the members of a form. Members of an alternative are not required.
func (f configForm) collect(path []string, given map[string]any, alternative bool, found map[string]configSetting) {
	for name, member := range f.Properties {
		at := append(slices.Clone(path), name)
		inner, _ := given[name].(map[string]any)
		if len(member.Properties) > 0 || len(member.OneOf) > 0 {
			member.collect(at, inner, alternative, found)
			for _, one := range member.OneOf {
				one.collect(at, inner, true, found)
			}
			continue
		}
		found[strings.Join(at, ".")] = configSetting{
			path: at, kind: schemaType(member.Type), label: member.Title, help: member.Text, given: given[name],
			secret: member.Secret || member.Hidden || member.WriteOnly || secretWords.MatchString(name),
			needed: !alternative && slices.Contains(f.Required, name),
		}
	}
}

func collectGiven(path []string, given map[string]any, found map[string]configSetting) {
	for name, v := range given {
		at := append(slices.Clone(path), name)
		if inner, ok := v.(map[string]any); ok {
			collectGiven(at, inner, found)
			continue
		}
		id := strings.Join(at, ".")
		if _, known := found[id]; known || v == nil {
			continue
		}
		s := configSetting{path: at, given: v, secret: secretWords.MatchString(name)}
		s.needed = s.secret
		switch v.(type) {
		case string:
		case bool:
			s.kind = "boolean"
		case float64:
			s.kind = "number"
		default:
			s.kind = "json"
		}
		found[id] = s
	}
}

// schemaType parses a JSON Schema type. The first one other than null counts.
func schemaType(raw jsontext.Value) string {
	var names []string
	var name string
	if json.Unmarshal(raw, &name) == nil {
		names = []string{name}
	} else if json.Unmarshal(raw, &names) != nil {
		return ""
	}
	for _, name := range names {
		switch name {
		case "string":
			return ""
		case "integer", "number", "boolean":
			return name
		case "array", "object":
			return "json"
		}
	}
	return ""
}

// assignVariables assigns a variable to each setting, and keeps the configured values that are not secrets.
func assignVariables(prefix string, settings []configSetting) (variables []Setting, values jsontext.Value) {
	kept := map[string]any{}
	for _, s := range settings {
		variables = append(variables, Setting{Path: s.path, Env: s.env(prefix), Type: s.kind})
		if s.given != nil && !s.secret {
			setValueAt(kept, s.path, s.given)
		}
	}
	if len(kept) == 0 {
		return variables, nil
	}
	return variables, encodeJSON(kept)
}

// env returns the variable of a setting.
func (s configSetting) env(prefix string) string {
	name := "_" + strings.ToUpper(strings.Join(s.path, "_"))
	name = strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, name)
	if name == roundVariable || name == hostsVariable {
		name += "_SETTING"
	}
	return prefix + name
}
