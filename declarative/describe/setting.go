package describe

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/pdpp-go/pdpp/declarative/document"
	"github.com/pdpp-go/pdpp/manifest"
)

// Setting is one value that the owner enters.
type Setting struct {
	Path     []string // members of the configuration, such as credentials, token
	Label    string
	Help     string
	Type     string // string, integer, number, boolean, array or object
	Format   string // such as date
	Pattern  string
	Options  []string // the only values that are allowed
	Default  *document.Node
	Examples []string
	Required bool   // the form is incomplete without it, if its choice applies
	Secret   bool   // marked in the form, or read by an authenticator
	Choice   string // title of the alternative that it belongs to, if any
	Constant string // fixed value that marks the alternative
	Env      string // variable through which the connector receives it
}

// Name returns the path with points.
func (s Setting) Name() string { return strings.Join(s.Path, ".") }

// settingsOf returns the settings of a document in the order of its form.
func settingsOf(doc *document.Document, key string) []Setting {
	prefix := (&manifest.Manifest{ConnectorKey: key}).EnvPrefix()
	var settings []Setting
	if doc.Spec != nil {
		settings = formSettings(doc.Spec.Connection, nil, "", prefix)
	}
	seen := map[string]bool{}
	settings = slices.DeleteFunc(settings, func(s Setting) bool {
		repeated := seen[s.Name()+"\x00"+s.Choice]
		seen[s.Name()+"\x00"+s.Choice] = true
		return repeated
	})
	return addCredentialSettings(dropUnusable(settings, doc), doc, prefix)
}

// formSettings returns the settings of an object of the form.
func formSettings(form *document.Node, path []string, choice, prefix string) []Setting {
	properties := form.Member("properties")
	if properties == nil {
		return nil
	}
	required := map[string]bool{}
	if names := form.Member("required"); names != nil {
		for _, name := range names.Items {
			required[name.String()] = true
		}
	}
	type group struct {
		order    int
		settings []Setting
	}
	var groups []group
	for i, name := range properties.Names {
		n := properties.Items[i]
		at := append(slices.Clone(path), name)
		order, err := strconv.Atoi(n.Member("order").String())
		if err != nil {
			order = 1000 + i
		}
		groups = append(groups, group{order, memberSettings(n, at, choice, prefix, required[name])})
	}
	slices.SortStableFunc(groups, func(a, b group) int { return cmp.Compare(a.order, b.order) })
	var settings []Setting
	for _, g := range groups {
		settings = append(settings, g.settings...)
	}
	return settings
}

// memberSettings returns the settings of one property, which may be an object or a choice.
func memberSettings(n *document.Node, path []string, choice, prefix string, required bool) []Setting {
	var settings []Setting
	alternatives := n.Member("oneOf")
	if alternatives == nil {
		alternatives = n.Member("anyOf")
	}
	if alternatives != nil {
		for i, alternative := range alternatives.Items {
			title := alternative.Member("title").String()
			if title == "" {
				title = "Choice " + strconv.Itoa(i+1)
			}
			settings = append(settings, formSettings(alternative, path, title, prefix)...)
		}
	}
	if settings = append(settings, formSettings(n, path, choice, prefix)...); len(settings) > 0 {
		return settings
	}
	s := Setting{Path: path, Label: n.Member("title").String(), Help: n.Member("description").String(),
		Type: typeOf(n.Member("type")), Format: n.Member("format").String(), Pattern: n.Member("pattern").String(),
		Default: n.Member("default"), Required: required, Choice: choice, Constant: n.Member("const").String(),
		Secret: n.Member("airbyte_secret").IsTrue(), Env: variable(prefix, path)}
	if s.Label == "" {
		s.Label = strings.Join(path, " ")
	}
	s.Options, s.Examples = texts(n.Member("enum")), texts(n.Member("examples"))
	if s.Constant == "" && choice != "" && len(s.Options) == 1 {
		s.Constant = s.Options[0]
	}
	return []Setting{s}
}

func texts(n *document.Node) []string {
	if n == nil {
		return nil
	}
	if n.Kind != document.List {
		return []string{n.String()}
	}
	var out []string
	for _, item := range n.Items {
		if text := item.String(); text != "" {
			out = append(out, text)
		}
	}
	return out
}

// typeOf returns the first type that is not null.
func typeOf(n *document.Node) string {
	for _, text := range texts(n) {
		if text != "null" {
			return text
		}
	}
	return "string"
}

// variable returns the environment variable of a setting. The variable with the address of a simulator is never one.
func variable(prefix string, path []string) string {
	if len(path) == 1 && strings.EqualFold(path[0], "base_url") {
		prefix += "_SETTING"
	}
	return prefix + "_" + strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToUpper(strings.Join(path, "_")))
}
