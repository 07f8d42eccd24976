package tryout

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/declarative/describe"
	"github.com/pdpp-go/pdpp/declarative/document"
	"github.com/pdpp-go/pdpp/declarative/expression"
)

// settings are invented values for the form of a file.
type settings struct {
	env    map[string]string
	config map[string]any
}

// inventSettings fills in the form of a file. The hosts that depend on settings become complete names.
func inventSettings(d *describe.Description, now time.Time) (settings, error) {
	hostSettings := map[string]bool{}
	for _, h := range d.Hosts {
		for _, name := range h.Settings {
			hostSettings[name] = true
		}
	}
	var problem error
	for _, host := range []string{"", "acme", "acme.example.com", "https://acme.example.com"} {
		out := settings{env: map[string]string{}, config: map[string]any{}}
		chosen := map[string]string{}
		for _, s := range d.Settings {
			group := strings.Join(s.Path[:len(s.Path)-1], ".")
			if s.Choice != "" && chosen[group] == "" {
				chosen[group] = s.Choice
			}
			if s.Choice != "" && chosen[group] != s.Choice {
				continue
			}
			text := invent(s, now)
			if s.Type == "array" && text != "" {
				text = inventList(d, s, text)
			}
			top := s.Path[0]
			if (hostSettings[top] || hostSettings[s.Path[len(s.Path)-1]]) && s.Type == "string" && len(s.Options) == 0 &&
				(s.Default == nil || s.Default.String() == "") {
				if text = host; host == "" && len(s.Examples) > 0 {
					text = s.Examples[0]
				}
			}
			out.set(s, text)
		}
		if _, problem = d.ResolveHosts(out.value(), true); problem == nil && isAbsolute(d, out.value()) {
			return out, nil
		}
	}
	if problem == nil {
		problem = errors.New("the address of a stream does not begin with https://")
	}
	return settings{}, fmt.Errorf("no settings were found with which the addresses of the file are complete: %w", problem)
}

// isAbsolute reports whether the base addresses of all streams have a scheme.
func isAbsolute(d *describe.Description, config expression.Value) bool {
	absolute := true
	for _, s := range d.Streams {
		document.Walk(s.Document, func(u document.Use) {
			if u.Member != "url_base" && u.Member != "url" {
				return
			}
			c := &expression.Context{}
			c.Set(expression.Config, config)
			c.Set(expression.Parameters, document.BaseOf(u.Component).Parameters)
			c.Set(expression.StreamSlice, expression.NewObject(0).Value())
			text, err := u.Template.Text(c)
			absolute = absolute && err == nil && strings.HasPrefix(strings.TrimSpace(text), "http")
		})
	}
	return absolute
}

// value returns the settings as templates read them.
func (s settings) value() expression.Value {
	raw, err := json.Marshal(s.config)
	if err != nil {
		return expression.Value{}
	}
	return expression.LazyJSON(raw)
}

// set stores a value under the variable of its setting, and its meaning in the configuration.
func (s settings) set(of describe.Setting, text string) {
	if text != "" {
		s.env[of.Env] = text
	}
	var v any = text
	switch {
	case of.Constant != "":
		v = of.Constant
	case text == "" && of.Default != nil:
		v = json.RawMessage(of.Default.AppendJSON(nil))
	case text == "":
		return
	case of.Type != "string" && json.Valid([]byte(text)):
		v = json.RawMessage(text)
	}
	object := s.config
	for _, name := range of.Path[:len(of.Path)-1] {
		inner, ok := object[name].(map[string]any)
		if !ok {
			inner = map[string]any{}
			object[name] = inner
		}
		object = inner
	}
	object[of.Path[len(of.Path)-1]] = v
}

var (
	dateName = regexp.MustCompile(`(?i)(date|since|start_time|from|begin)`)
	endName  = regexp.MustCompile(`(?i)(end|until|to$)`)
)

// dateForms are the forms in which settings ask for a time.
var dateForms = []string{"2006-01-02T15:04:05Z", "2006-01-02", "2006-01-02T15:04:05.000Z", "2006-01-02T15:04:05",
	"2006-01-02 15:04:05", "2006-01-02T15:04:05.000000Z", "2006-01-02T15:04:05+00:00", "01/02/2006", "20060102", "2006-01",
	"2006"}

// invent returns a value for a setting, or "" to leave it empty.
func invent(s describe.Setting, now time.Time) string {
	name := s.Path[len(s.Path)-1]
	isDate := strings.HasPrefix(s.Format, "date") || dateName.MatchString(name)
	switch {
	case s.Constant != "":
		return s.Constant
	case isDate && s.Type == "string" && len(s.Options) == 0:
		return inventDate(s, name, now)
	case s.Default != nil && s.Default.String() != "":
		return ""
	case len(s.Options) > 0 && s.Type == "array":
		list, _ := json.Marshal(s.Options[:min(2, len(s.Options))]) // texts
		return string(list)
	case len(s.Options) > 0:
		return s.Options[0]
	case !s.Required && !s.Secret && s.Choice == "" && !isDate && s.Type != "array": // a list makes partitions
		return ""
	}
	switch s.Type {
	case "integer", "number":
		if isDate {
			return strconv.FormatInt(now.AddDate(0, 0, -10).Unix(), 10)
		}
		return "2"
	case "boolean":
		return "true"
	case "array":
		return `["one","two"]`
	case "object":
		return "{}"
	}
	for _, text := range append(slices.Clone(s.Examples), "invented-"+strings.ReplaceAll(name, "_", "-"), "12345",
		"me@mail.example", strconv.FormatInt(now.Unix(), 10)) {
		if fits(s, text) && text != "" && (!s.Secret || strings.HasPrefix(text, "invented")) {
			return text
		}
	}
	return "invented-" + name
}

// inventList returns a list of objects if the form describes its items so, or else the usual list.
func inventList(d *describe.Description, s describe.Setting, usual string) string {
	node := d.Document.Spec.Connection
	for _, name := range s.Path {
		node = node.Path("properties", name)
	}
	properties := node.Path("items", "properties")
	if properties == nil {
		return usual
	}
	item := map[string]any{}
	for i, name := range properties.Names {
		options := properties.Items[i].Member("enum")
		switch kind := properties.Items[i].Member("type").String(); {
		case options != nil && len(options.Items) > 0:
			item[name] = options.Items[0].String()
		case kind == "integer" || kind == "number":
			item[name] = 2
		case kind == "boolean":
			item[name] = true
		default:
			item[name] = "invented-" + name
		}
	}
	list, err := json.Marshal([]any{item})
	if err != nil {
		return usual
	}
	return string(list)
}

// fits reports whether a text matches the pattern of a setting.
func fits(s describe.Setting, text string) bool {
	pattern, err := regexp.Compile(s.Pattern)
	return err != nil || pattern.MatchString(text)
}

// inventDate returns a time ten days ago, or now for the end of a period, in a form that the setting accepts.
func inventDate(s describe.Setting, name string, now time.Time) string {
	at := now.AddDate(0, 0, -10)
	if endName.MatchString(name) {
		if at = now; !s.Required {
			return ""
		}
	}
	forms := slices.Clone(dateForms)
	if s.Format == "date" || looksLikeDay(s) {
		forms[0], forms[1] = forms[1], forms[0]
	}
	for _, form := range forms {
		if text := at.Format(form); fits(s, text) {
			return text
		}
	}
	return at.Format(forms[0])
}

// looksLikeDay reports whether the examples of a setting are days without a time.
func looksLikeDay(s describe.Setting) bool {
	return len(s.Examples) > 0 && len(s.Examples[0]) == len(time.DateOnly)
}
