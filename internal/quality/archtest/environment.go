package archtest

import (
	"go/ast"
	"regexp"
	"slices"
	"strings"
)

const whyEnvironment = "configuration is read in cmd and handed down as options, so that behaviour has no hidden inputs"

// environmentNames are the names of packages os and syscall that read the environment.
var environmentNames = []string{".", "Getenv", "LookupEnv", "Environ", "ExpandEnv"}

// CheckEnvironment finds internal packages that read environment variables.
// Developer tools and test support are free; connectorkit, outside internal,
// reads what the runner put there for the connector.
func CheckEnvironment(packages []Package) []Finding {
	var found []Finding
	for _, p := range packages {
		if !strings.HasPrefix(p.Path, "internal/") || isDeveloperTool(p.Path) || isTestSupport(p.Path) {
			continue
		}
		for _, f := range p.code() {
			for _, imported := range []string{"os", "syscall"} {
				eachUse(f, imported, func(name string, n ast.Node) {
					if slices.Contains(environmentNames, name) {
						found = append(found, Finding{p.at(f, n.Pos()), "uses " + imported + "." + name, whyEnvironment})
					}
				})
			}
		}
	}
	return found
}

var variableName = regexp.MustCompile(`^(?:PDPP|OTEL)_[A-Z_]+$`)

// Variables lists the environment variables that the programs use by name. A name that ends with
// an underscore is a prefix. A connector's variables come from its manifest, and the demonstration
// sets some of them.
func Variables(packages []Package) []string {
	var out []string
	for _, p := range packages {
		if isDeveloperTool(p.Path) || isTestSupport(p.Path) ||
			slices.ContainsFunc([]string{"internal/quality/", "internal/demo", "connectors/", "providersim"},
				func(part string) bool { return strings.HasPrefix(p.Path, part) }) {
			continue
		}
		for _, f := range p.code() {
			out = append(out, slices.DeleteFunc(texts(f.AST), func(s string) bool { return !variableName.MatchString(s) })...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
