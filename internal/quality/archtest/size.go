package archtest

import (
	"fmt"
	"go/ast"
)

// MaxPackageLines is how many lines a package may have, without tests and generated files.
const MaxPackageLines = 4000

// LargePackages are the packages that may be larger, each with its ceiling and its reason.
var LargePackages = map[string]struct {
	Lines  int
	Reason string
}{
	"internal/storage/store/sqlstore": {12000, "one transaction spans tables that belong together, and both " +
		"databases share its SQL; a part outside would need the transaction's own type"},
	"connectorkit/rest": {4200, "its parts become packages of their own when the sources are declared"},
	"declarative/expression": {7600, "one small language: values print and read as Python's do in every filter, method " +
		"and operator"},
}

// testSupport are the packages that only tests use, which the limit does not count.
var testSupport = []string{"connectorkit/connectortest/...", "internal/quality/...", "internal/storage/store/storetest",
	"providersim/..."}

// ProductLines returns how many lines a package has without its tests and generated files.
func ProductLines(p Package) int {
	lines := 0
	for _, f := range p.code() {
		if !ast.IsGenerated(f.AST) {
			lines += p.Fset.File(f.AST.FileStart).LineCount()
		}
	}
	return lines
}

// CheckPackageSize finds packages with too many lines.
func CheckPackageSize(packages []Package) []Finding {
	var out []Finding
	for _, p := range packages {
		limit := MaxPackageLines
		if known, ok := LargePackages[p.Path]; ok {
			limit = known.Lines
		}
		if lines := ProductLines(p); lines > limit && !matchesAny(testSupport, p.Path) {
			out = append(out, Finding{Where: p.Path,
				Offence: fmt.Sprintf("has %d lines, at most %d are allowed", lines, limit),
				Reason:  "a package with one subject can be read in an afternoon: move a part with a name into its own"})
		}
	}
	return out
}
