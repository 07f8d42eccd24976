package contentline

import (
	"slices"
	"strings"
)

// maxComponentDepth is how deep components nest. Deeper ones become siblings at that depth.
const maxComponentDepth = 8

// Component is the content between a BEGIN and its END.
type Component struct {
	Name       string // in capitals
	Properties []Property
	Children   []*Component
}

// Get returns the first property of that name, or the zero value.
func (c *Component) Get(name string) Property {
	for _, p := range c.Properties {
		if p.Name == name {
			return p
		}
	}
	return Property{}
}

// All returns every property of that name.
func (c *Component) All(name string) []Property {
	var all []Property
	for _, p := range c.Properties {
		if p.Name == name {
			all = append(all, p)
		}
	}
	return all
}

// Text is the unescaped text of the first property of that name.
func (c *Component) Text(name string) string { return c.Get(name).Text() }

// topLevelComponents names the components that never nest: where one begins,
// another that has not ended is over.
var topLevelComponents = []string{"VEVENT", "VTODO", "VJOURNAL", "VFREEBUSY", "VTIMEZONE", "VCARD"}

// Parse reads the components of a text, in its order.
func Parse(text []byte) []*Component {
	root := &Component{}
	open := []*Component{root}
	top := func() *Component { return open[len(open)-1] }
	end := func(is func(*Component) bool) {
		for i := len(open) - 1; i > 0; i-- {
			if is(open[i]) {
				open = open[:i]
				return
			}
		}
	}
	for _, line := range unfoldLines(text) {
		p, ok := parseProperty(line)
		switch {
		case !ok:
			if len(open) > 1 {
				top().appendContinuation(line)
			}
		case p.Name == "BEGIN":
			name := strings.ToUpper(strings.TrimSpace(p.Value))
			if name == "VCALENDAR" {
				open = open[:1]
			} else if slices.Contains(topLevelComponents, name) {
				end(func(c *Component) bool { return slices.Contains(topLevelComponents, c.Name) })
			}
			c := &Component{Name: name}
			top().Children = append(top().Children, c)
			if len(open) <= maxComponentDepth {
				open = append(open, c)
			}
		case p.Name == "END":
			name := strings.ToUpper(strings.TrimSpace(p.Value))
			end(func(c *Component) bool { return c.Name == name })
		case len(open) > 1:
			top().Properties = append(top().Properties, p)
		}
	}
	return root.Children
}

// appendContinuation appends a line that is not a property to the property before it. Its line break
// was not escaped.
func (c *Component) appendContinuation(line string) {
	if n := len(c.Properties); n > 0 && strings.TrimSpace(line) != "" {
		c.Properties[n-1].Value += `\n` + line
	}
}
