package manifest

import "slices"

// Browser declares what a connector visits with its browser.
type Browser struct {
	Hosts   []string `json:"hosts" rule:"required,min=1,unique,pattern=host" doc:"Hosts with pages that the connector opens. Other hosts can be reached only if one of these redirects the browser."`
	Headful Headful  `json:"headful,omitempty" doc:"Whether the site is better visited by a browser that has a window. Absent: never."`
}

// Headful declares whether a browser gets a window.
type Headful string

// Values of Headful. A preferred window is opened if the machine has a display.
const (
	HeadfulNever     Headful = "never"
	HeadfulPreferred Headful = "preferred"
)

// Headfuls lists every Headful.
var Headfuls = []Headful{HeadfulNever, HeadfulPreferred}

// Valid reports whether h is in Headfuls.
func (h Headful) Valid() bool      { return slices.Contains(Headfuls, h) }
func (h Headful) values() []string { return stringsOf(Headfuls) }

// UsesBrowser reports whether the connector declares that it can work with a browser.
func (m *Manifest) UsesBrowser() bool {
	if m.RuntimeRequirements == nil {
		return false
	}
	_, declared := m.RuntimeRequirements.Bindings[BindingBrowser]
	return declared
}

func (ps *Problems) checkBrowser(m *Manifest) {
	if m.Browser != nil && !m.UsesBrowser() {
		ps.add(
			"runtime_requirements.bindings",
			"does not ask for the browser that browser describes",
			"add browser to it, or remove the key browser",
		)
	}
}
