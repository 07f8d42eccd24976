package archtest

import (
	"go/ast"
	"slices"
)

// PureRooms are the packages that compute: same input, same answer, no waiting.
var PureRooms = []string{
	"protocol", "protocol/surface", "governor", "manifest", "manifest/gate", "declarative/expression",
	"declarative/document", "declarative/describe", "declarative/review",
	"internal/judge/evidence", "internal/judge/attention", "internal/judge/health", "internal/judge/verdict",
	"internal/judge/cadence",
}

// timelessRooms do not know the current time, not even as an argument. They carry the times in
// their evidence and compare them only with each other.
var timelessRooms = []string{"internal/judge/verdict"}

// outsideWorld lists the imports that reach out of the computation.
var outsideWorld = []string{
	"os", "os/exec", "syscall", "net", "net/http", "log", "log/slog", "io/ioutil", "math/rand", "math/rand/v2",
}

// clockNames are the names of package time that read the clock or wait for it.
var clockNames = []string{
	".", "Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker",
}

// momentNames are the names of package time that carry a moment or only measure.
var momentNames = []string{
	"Time", "Duration", "Nanosecond", "Microsecond", "Millisecond", "Second", "Minute", "Hour", "ParseDuration",
}

// printNames are the names of package fmt that write to standard output or read from standard input.
var printNames = []string{".", "Print", "Printf", "Println", "Scan", "Scanf", "Scanln"}

const (
	whyPure     = "this package is pure: its answer depends on its arguments alone, so every case of it is a table test"
	whyNow      = whyPure + "; take now as a parameter"
	whyTimeless = "the verdict has no now: its evidence says when it was observed, so that one projection always reads " +
		"the same"
)

// CheckPurity finds clocks, waits, goroutines and I/O in the pure rooms.
func CheckPurity(packages []Package) []Finding {
	var found []Finding
	for _, p := range packages {
		if !matchesAny(PureRooms, p.Path) {
			continue
		}
		for _, f := range p.code() {
			found = append(found, impurities(p, f)...)
			if matchesAny(timelessRooms, p.Path) {
				found = append(found, moments(p, f)...)
			}
		}
	}
	return found
}

func impurities(p Package, f File) []Finding {
	var found []Finding
	for _, spec := range f.AST.Imports {
		if imported := importPath(spec); slices.Contains(outsideWorld, imported) {
			found = append(found, Finding{p.at(f, spec.Pos()), "imports " + imported, whyPure})
		}
	}
	eachUse(f, "time", func(name string, n ast.Node) {
		if slices.Contains(clockNames, name) {
			found = append(found, Finding{p.at(f, n.Pos()), "uses time." + name, whyNow})
		}
	})
	eachUse(f, "fmt", func(name string, n ast.Node) {
		if slices.Contains(printNames, name) {
			found = append(found, Finding{p.at(f, n.Pos()), "uses fmt." + name, whyPure})
		}
	})
	ast.Inspect(f.AST, func(n ast.Node) bool {
		if g, ok := n.(*ast.GoStmt); ok {
			found = append(found, Finding{p.at(f, g.Pos()), "starts a goroutine", whyPure})
		}
		return true
	})
	return found
}

// moments finds every use of package time that makes a moment, and everything
// that is called now. Clock names are left to impurities, so that nothing is
// reported twice.
func moments(p Package, f File) []Finding {
	var found []Finding
	eachUse(f, "time", func(name string, n ast.Node) {
		if !slices.Contains(momentNames, name) && !slices.Contains(clockNames, name) {
			found = append(found, Finding{p.at(f, n.Pos()), "uses time." + name, whyTimeless})
		}
	})
	ast.Inspect(f.AST, func(n ast.Node) bool {
		if field, ok := n.(*ast.Field); ok {
			for _, name := range field.Names {
				if name.Name == "now" {
					found = append(found, Finding{p.at(f, name.Pos()), "takes now", whyTimeless})
				}
			}
		}
		return true
	})
	return found
}
