package archtest

import "strings"

const (
	browserDriver    = "github.com/chromedp/"
	debuggingPort    = "remote-debugging" + "-port" // in two parts, so that it does not find itself
	browserRoom      = "connectorkit/browser"
	whyBrowserDriver = "there is one launcher, with a profile of its own for each run: what else speaks to a browser " +
		"would be a second one, or attach to the owner's"
)

// CheckBrowserDriver returns a finding for each package other than the launcher that drives a
// browser or opens a port to one. Developer tools are exempt, because they compare it with others.
func CheckBrowserDriver(packages []Package) []Finding {
	var found []Finding
	for _, p := range packages {
		if isDeveloperTool(p.Path) || isTestSupport(p.Path) {
			continue
		}
		for _, f := range p.code() {
			for _, spec := range f.AST.Imports {
				if imported := importPath(spec); strings.HasPrefix(imported, browserDriver) &&
					p.Path != browserRoom && !strings.HasPrefix(p.Path, browserRoom+"/internal/") {
					found = append(found, Finding{p.at(f, spec.Pos()), "imports " + imported, whyBrowserDriver})
				}
			}
			for _, text := range texts(f.AST) {
				if strings.Contains(text, debuggingPort) {
					found = append(found, Finding{p.Path, "opens a debugging port", whyBrowserDriver})
				}
			}
		}
	}
	return found
}
