package describe

import (
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/declarative/document"
)

// Choice is a group of settings with alternatives, such as two ways to sign in. The owner's value of the first setting
// that is fixed in each alternative chooses one.
type Choice struct {
	Setting // its Options are the values of the alternatives
	Titles  []string
}

// Choices returns the choices among settings, in their order.
func Choices(settings []Setting) []Choice {
	var all []Choice
	for _, s := range settings {
		if s.Constant == "" || s.Choice == "" {
			continue
		}
		i := slices.IndexFunc(all, func(c Choice) bool { return slices.Equal(c.group(), s.Path[:len(s.Path)-1]) })
		if i < 0 {
			own := s
			own.Constant, own.Choice, own.Options, own.Secret, own.Required, own.Default = "", "", nil, false, false, nil
			i, all = len(all), append(all, Choice{Setting: own})
		}
		if c := &all[i]; !slices.Contains(c.Titles, s.Choice) {
			c.Options, c.Titles = append(c.Options, s.Constant), append(c.Titles, s.Choice)
		}
	}
	return all
}

// group returns the path of the object that has the alternatives.
func (c Choice) group() []string { return c.Path[:len(c.Path)-1] }

// Covers reports whether a setting belongs to one of the alternatives.
func (c Choice) Covers(s Setting) bool {
	group := c.group()
	return s.Choice != "" && slices.Contains(c.Titles, s.Choice) && len(s.Path) > len(group) &&
		slices.Equal(s.Path[:len(group)], group)
}

// Chosen returns the title of the alternative with a value. If the owner entered no value, it is the alternative with
// the most settings that have one, the first of equals. It is empty for an unknown value.
func (c Choice) Chosen(settings []Setting, env func(string) string) string {
	if len(c.Titles) == 1 {
		return c.Titles[0]
	}
	if value := env(c.Env); value != "" {
		for i := range c.Options {
			if c.Options[i] == value || c.Titles[i] == value {
				return c.Titles[i]
			}
		}
		return ""
	}
	best, most := c.Titles[0], -1
	for _, title := range c.Titles {
		n := 0
		for _, s := range settings {
			if s.Choice == title && s.Constant == "" && c.Covers(s) && env(s.Env) != "" {
				n++
			}
		}
		if n > most {
			best, most = title, n
		}
	}
	return best
}

// field returns the input that asks for the alternative.
func (c Choice) field() Setting {
	s := c.Setting
	s.Help = strings.TrimSpace(s.Help + " If left empty, what you enter below decides.")
	return s
}

// dropUnusable removes the settings of ways to sign in that no stream can use.
func dropUnusable(settings []Setting, doc *document.Document) []Setting {
	for _, c := range Choices(settings) {
		unusable := map[string]bool{} // titles
		for _, stream := range doc.Streams {
			a, ok := stream.Retriever.Requester.Authenticator.(*document.Selective)
			if !ok || !slices.Equal(a.SelectionPath, c.Path) {
				continue
			}
			for i, value := range c.Options {
				if a.Unsupported[value] != "" {
					unusable[c.Titles[i]] = true
				}
			}
		}
		if len(unusable) < len(c.Titles) {
			settings = slices.DeleteFunc(settings, func(s Setting) bool { return c.Covers(s) && unusable[s.Choice] })
		}
	}
	return settings
}

// addCredentialSettings adds the settings that token requests read and that the form does not ask for. A file of this
// kind expects another program to fill them in after a sign-in.
func addCredentialSettings(settings []Setting, doc *document.Document, prefix string) []Setting {
	derived := map[string]bool{}
	eachRuleField(doc, func(f *document.ConfigField) { derived[pathSource(f.Path)] = true })
	add := func(name string) {
		path := strings.Split(name, ".")
		if derived[name] || slices.ContainsFunc(settings, func(s Setting) bool {
			return s.Name() == name || strings.HasPrefix(s.Name(), name+".") || strings.HasPrefix(name, s.Name()+".")
		}) {
			return
		}
		label := strings.ReplaceAll(path[len(path)-1], "_", " ")
		settings = append(settings, Setting{Path: path, Label: strings.ToUpper(label[:1]) + label[1:], Type: "string",
			Env: variable(prefix, path)})
	}
	for _, s := range doc.Streams {
		eachAuthenticator(s, func(c document.Component) {
			a, ok := c.(*document.OAuth)
			if !ok {
				return
			}
			for _, t := range []document.Template{a.ClientID, a.ClientSecret, a.RefreshToken} {
				if name := onlySetting(t); name != "" {
					add(name)
				}
			}
			if a.Updater != nil {
				add(strings.Join(RefreshTokenPath(a), "."))
			}
		})
	}
	return settings
}

// onlySetting returns the setting that a template reads. It is empty if there are several, or if the template computes
// the name.
func onlySetting(t document.Template) string {
	if !t.IsSet() {
		return ""
	}
	names := settingsRead(t)
	slices.Sort(names)
	if names = slices.Compact(names); len(names) != 1 || names[0] == "get" {
		return ""
	}
	return names[0]
}
