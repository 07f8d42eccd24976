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
	whyList = "the built-in connectors are the explicit list in " + connectorListFile +
		": a folder outside it is dead code"
	whyQuiet = "a provider request waits in governor/governhttp and nowhere else: use the client the kit gives"
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

// byPass is one package through which a connector could reach its provider, or
// wait for it, past the kit.
type byPass struct {
	imported string
	all      bool     // importing it is enough
	uses     []string // names that must not be mentioned
	makes    []string // types of which no value may be made
	offence  string   // before the name
}

var byPasses = []byPass{
	{imported: "net/http", offence: "uses", makes: []string{"Client", "Transport"},
		uses: []string{"Get", "Post", "Head", "PostForm", "DefaultClient", "DefaultTransport"}},
	{imported: "net", offence: "connects with", makes: []string{"Dialer"},
		uses: []string{"Dial", "DialTimeout", "DialTCP", "DialUDP", "DialIP", "DialUnix"}},
	{imported: "crypto/tls", offence: "connects with", makes: []string{"Dialer"},
		uses: []string{"Dial", "DialWithDialer", "Client"}},
	{imported: "os/exec", all: true},
	{imported: "net/rpc", all: true},
	{imported: "net/smtp", all: true},
	{imported: "syscall", all: true},
	{imported: "time", offence: "waits with",
		uses: []string{"Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}},
	{imported: modulePath + "/governor/governhttp", offence: "bypasses Setup with", makes: []string{"Client", "Sender"},
		uses: []string{"New", "NewSender"}},
	{imported: modulePath + "/governor", offence: "bypasses Setup with", makes: []string{"Governor"},
		uses: []string{"New"}},
}

// CheckConnectorRequests returns findings for connectors that bypass the shared client: that send
// requests, wait, or govern requests on their own.
func CheckConnectorRequests(packages []Package) []Finding {
	var found []Finding
	for _, p := range packages {
		if !strings.HasPrefix(p.Path, "connectors/") {
			continue
		}
		for _, f := range p.code() {
			made := madeValues(f)
			for _, b := range byPasses {
				b.find(f, made, func(what string, n ast.Node) {
					found = append(found, Finding{p.at(f, n.Pos()), what, whyQuiet})
				})
			}
		}
	}
	return found
}

func (b byPass) find(f File, made map[token.Pos]bool, report func(what string, n ast.Node)) {
	if b.all {
		for _, spec := range f.AST.Imports {
			if importPath(spec) == b.imported {
				report("imports "+b.imported, spec)
			}
		}
		return
	}
	base := path.Base(b.imported)
	eachUse(f, b.imported, func(name string, n ast.Node) {
		switch {
		case name == ".":
			report("hides its uses of "+b.imported+" behind a dot import", n)
		case slices.Contains(b.uses, name):
			report(b.offence+" "+base+"."+name, n)
		case slices.Contains(b.makes, name) && made[n.Pos()]:
			report("makes its own "+base+"."+name, n)
		}
	})
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
