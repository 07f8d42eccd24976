package archtest

import (
	"fmt"
	"go/ast"
	"strings"
)

const whyPackageDoc = "the package comment is the first thing a reader sees: one per package, in one place"

// CheckPackageDocs wants exactly one package comment in every package, programs
// included, that begins as the Go documentation tool expects. Generated files
// have no voice in it.
func CheckPackageDocs(packages []Package) []Finding {
	var found []Finding
	for _, p := range packages {
		files := p.code()
		if len(files) == 0 {
			files = p.Files // a package with only tests has its comment in a test file
		}
		var documented []string
		for _, f := range files {
			text := packageComment(f)
			if text == "" {
				continue
			}
			documented = append(documented, f.Name)
			if want := "Package " + p.Name + " "; p.Name != "main" && !strings.HasPrefix(text, want) {
				found = append(found, Finding{p.at(f, f.AST.Package), fmt.Sprintf("package comment does not begin with %q", want),
					whyPackageDoc})
			}
		}
		switch len(documented) {
		case 0:
			found = append(found, Finding{p.Path, "has no package comment", whyPackageDoc})
		case 1:
		default:
			found = append(found, Finding{p.Path, "has several package comments: " + strings.Join(documented, ", "),
				whyPackageDoc})
		}
	}
	return found
}

func packageComment(f File) string {
	if f.AST.Doc == nil || ast.IsGenerated(f.AST) {
		return ""
	}
	return strings.TrimSpace(f.AST.Doc.Text())
}
