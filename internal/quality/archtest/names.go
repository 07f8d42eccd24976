package archtest

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strings"
)

// MaxSharers is how many packages may declare the same name with different meanings.
const MaxSharers = 3

// idiomaticNames are names that Go suggests: the package determines their meaning.
var idiomaticNames = map[string]string{
	"Close":       "ends what Open began",
	"Config":      "what New gets",
	"ErrNotFound": "the sentinel of a package that looks things up",
	"Error":       "the error type of a package, or the method of one",
	"New":         "makes the one thing that the package is about",
	"Open":        "makes the one thing that the package is about, which has to be closed",
	"Options":     "what New or Open get",
	"Parse":       "reads the one form that the package is about",
	"Run":         "does what the package is about",
	"String":      "the text of a value",
	"init":        "has no name in Go",
	"main":        "has no name in Go",
}

// sameMeaning are names that mean the same in every package that declares them: terms of the glossary in each layer
// that has its own form of them, and parts that every package of a kind has.
var sameMeaning = map[string]string{
	"Backoff":             "the glossary's term, in the store, its evidence, the owner's answers and the governor",
	"Blob":                "the glossary's term, in each layer that passes files on",
	"CodeUnauthenticated": "one code in the answers of every route",
	"Completeness":        "whether a stream is complete, as seen by the owner and by apps",
	"Connector":           "what each connector package exports to the program that runs it",
	"Cursor":              "the glossary's term, in each layer that passes it on",
	"Device":              "the glossary's term, in each layer that passes it on",
	"Gap":                 "the glossary's term, in each layer that passes it on",
	"Grant":               "the glossary's term, in each layer that passes it on",
	"ProviderWait":        "the glossary's term, in each layer that passes it on",
	"Record":              "the glossary's term, in each layer that passes it on",
	"Routes":              "the routes that a package serves",
	"Schedule":            "the glossary's term, in each layer that passes it on",
	"Store":               "the part of the store that a package needs",
	"Stream":              "the glossary's term, in each layer that passes it on",
	"classifyResponse":    "the rule of each connector for a provider's failures",
	"errTruncated":        "an answer that ends early",
	"errUnexpectedShape":  "an answer of another form than the connector knows",
	"manifestJSON":        "the embedded manifest of each connector",
	"messageRecord":       "the message stream of each connector that has one",
	"newCollectors":       "the Open function of each connector",
	"parseExportTime":     "reads the time format of an export",
	"source":              "the declaration of each connector that package rest runs",
	"uncollectedFiles":    "members of an export that a connector leaves out",
}

// MaxSharedNames is how many other names may be shared. It only falls.
const MaxSharedNames = 1

// SharedNames returns the names that more than MaxSharers packages declare at package level, without the idiomatic ones
// and those with one meaning, and their packages.
func SharedNames(packages []Package) map[string][]string {
	sharers := map[string][]string{}
	for _, p := range packages {
		if matchesAny(testSupport, p.Path) {
			continue
		}
		for name := range declaredNames(p) {
			if idiomaticNames[name] == "" && sameMeaning[name] == "" && name != "_" {
				sharers[name] = append(sharers[name], p.Path)
			}
		}
	}
	maps.DeleteFunc(sharers, func(_ string, by []string) bool { return len(by) <= MaxSharers })
	return sharers
}

// CheckSharedNames finds names with so many meanings that searching for one of them is useless.
func CheckSharedNames(packages []Package, most int) []Finding {
	shared := SharedNames(packages)
	if len(shared) <= most {
		return nil
	}
	var out []Finding
	for _, name := range slices.Sorted(maps.Keys(shared)) {
		out = append(out, Finding{Where: strings.Join(slices.Sorted(slices.Values(shared[name])), ", "),
			Offence: fmt.Sprintf("all declare %s: %d names are shared so, at most %d are allowed", name, len(shared), most),
			Reason:  "a name that occurs in more than three packages with different meanings is too general"})
	}
	return out
}

// declaredNames returns the names of a package's functions, types, variables and constants.
func declaredNames(p Package) map[string]bool {
	names := map[string]bool{}
	for _, f := range p.code() {
		if ast.IsGenerated(f.AST) {
			continue
		}
		for _, decl := range f.AST.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					names[d.Name.Name] = true
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch s := spec.(type) {
					case *ast.TypeSpec:
						names[s.Name.Name] = true
					case *ast.ValueSpec:
						for _, name := range s.Names {
							names[name.Name] = true
						}
					}
				}
			}
		}
	}
	return names
}
