package archtest

import (
	"go/ast"
	"slices"
)

// PureRooms are the packages that compute: same input, same answer, no waiting.
var PureRooms = []string{
	"protocol", "governor", "manifest",
	"internal/evidence", "internal/health", "internal/verdict", "internal/cadence",
}

// timelessRooms do not know what time it is, not even by argument.
var timelessRooms = []string{"internal/verdict"}

// outsideWorld lists the imports that reach out of the computation.
var outsideWorld = []string{
	"os", "os/exec", "syscall", "net", "net/http", "log", "log/slog", "io/ioutil", "math/rand", "math/rand/v2",
}

// clockNames are the names of package time that read the clock or wait for it.
var clockNames = []string{
	".", "Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker",
}

// durationNames are the names of package time that only measure.
var durationNames = []string{
	"Duration", "Nanosecond", "Microsecond", "Millisecond", "Second", "Minute", "Hour", "ParseDuration",
}

// printNames are the names of package fmt that write to standard output or read from standard input.
var printNames = []string{".", "Print", "Printf", "Println", "Scan", "Scanf", "Scanln"}

const (
	whyPure     = "this package is pure: its answer depends on its arguments alone, so every case of it is a table test"
	whyNow      = whyPure + "; take now as a parameter"
	whyTimeless = "the verdict has no now: ages arrive as durations, so that one projection always reads the same"
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

// moments finds every use of package time that is not about durations. Clock
// names are left to impurities, so that nothing is reported twice.
func moments(p Package, f File) []Finding {
	var found []Finding
	eachUse(f, "time", func(name string, n ast.Node) {
		if !slices.Contains(durationNames, name) && !slices.Contains(clockNames, name) {
			found = append(found, Finding{p.at(f, n.Pos()), "uses time." + name, whyTimeless})
		}
	})
	return found
}
