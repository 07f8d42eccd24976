package archtest

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"
)

// connectorListFile is the one place that names every built-in connector.
const connectorListFile = "connectors/connectors.go"

const (
	whyList  = "the built-in connectors are the explicit list in " + connectorListFile + ": a folder outside it is dead code"
	whyQuiet = "a provider request waits in connectorkit/governhttp and nowhere else: use the client the kit gives"
)

// CheckConnectorList compares the imports of the connector list with the
// folders beside it.
func CheckConnectorList(packages []Package, folders []string) []Finding {
	var found []Finding
	listed := map[string]bool{}
	for _, p := range packages {
		for _, f := range p.code() {
			if path.Join(p.Path, f.Name) != connectorListFile {
				continue
			}
			for _, spec := range f.AST.Imports {
				name, ok := strings.CutPrefix(importPath(spec), modulePath+"/connectors/")
				if !ok {
					continue
				}
				listed[name] = true
				if !slices.Contains(folders, name) {
					found = append(found, Finding{p.at(f, spec.Pos()), "lists " + name + ", which has no folder", whyList})
				}
				if spec.Name != nil && spec.Name.Name == "_" {
					found = append(found, Finding{p.at(f, spec.Pos()), "imports " + name + " for its side effect", whyList})
				}
			}
		}
	}
	for _, name := range folders {
		if !listed[name] {
			found = append(found, Finding{"connectors/" + name, "is missing from " + connectorListFile, whyList})
		}
	}
	return found
}

// ownClient are the names of net/http that send requests past the governor.
var ownClient = []string{".", "Get", "Post", "Head", "PostForm", "DefaultClient", "DefaultTransport"}

// waits are the names of package time that wait.
var waits = []string{".", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}

// CheckConnectorRequests finds connectors that send requests or wait by themselves.
func CheckConnectorRequests(packages []Package) []Finding {
	var found []Finding
	for _, p := range packages {
		if !strings.HasPrefix(p.Path, "connectors/") {
			continue
		}
		for _, f := range p.code() {
			report := func(what string, n ast.Node) {
				found = append(found, Finding{p.at(f, n.Pos()), what, whyQuiet})
			}
			made := madeValues(f)
			eachUse(f, "net/http", func(name string, n ast.Node) {
				if slices.Contains(ownClient, name) {
					report("uses http."+name, n)
				}
				if (name == "Client" || name == "Transport") && made[n.Pos()] {
					report("makes its own http."+name, n)
				}
			})
			eachUse(f, "time", func(name string, n ast.Node) {
				if slices.Contains(waits, name) {
					report("waits with time."+name, n)
				}
			})
		}
	}
	return found
}

// madeValues returns the positions of the types of which a file makes values:
// T{}, new(T), var x T, and struct fields of type T. Pointers are only passed on.
func madeValues(f File) map[token.Pos]bool {
	made := map[token.Pos]bool{}
	ast.Inspect(f.AST, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			if n.Type != nil {
				made[n.Type.Pos()] = true
			}
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); ok && id.Name == "new" && len(n.Args) == 1 {
				made[n.Args[0].Pos()] = true
			}
		case *ast.ValueSpec:
			if n.Type != nil {
				made[n.Type.Pos()] = true
			}
		case *ast.StructType:
			for _, field := range n.Fields.List {
				made[field.Type.Pos()] = true
			}
		}
		return true
	})
	return made
}
