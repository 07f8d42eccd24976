package archtest

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var updateDocs = flag.Bool("update-docs", false, "write the tests of the specification")

const specification = "../../../docs/understand/specification.md"

// TestSpecificationDocument compares the index with the claims of the tests. Every cited statement
// must be in the index.
func TestSpecificationDocument(t *testing.T) {
	t.Parallel()
	claims, found := Claims(root, module(t))
	for _, f := range found {
		t.Error(f)
	}
	if len(claims) < 200 {
		t.Errorf("only %d claims were found", len(claims))
	}
	text, err := os.ReadFile(specification)
	if err != nil {
		t.Fatal(err)
	}
	index := ReadIndex(string(text))
	for _, p := range index.Problems() {
		t.Error(p)
	}
	for path, cited := range citations(t) {
		for _, s := range index.Unknown(cited) {
			t.Errorf("%s names %s, which the specification lacks", path, s)
		}
	}
	for _, c := range claims {
		if len(index.Unknown([]string{c.Statement})) > 0 {
			t.Errorf("%s of %s claims %s, which the specification lacks", c.Function, c.Package, c.Statement)
		}
	}
	switch fresh := index.Fresh(claims); {
	case fresh == string(text):
	case *updateDocs:
		if err := os.WriteFile(specification, []byte(fresh), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Error("docs/understand/specification.md is out of date; refresh it with: " +
			"go test ./internal/quality/archtest -run TestSpecificationDocument -update-docs")
	}
}

// citations returns the statements that each source and documentation file names. It skips this
// package's own tests, which contain invented ones.
func citations(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "build"):
			return filepath.SkipDir
		case !slices.Contains([]string{".go", ".templ", ".md", ".json", ".txtar", ".sql"}, filepath.Ext(path)),
			strings.Contains(path, filepath.Join("archtest", "specification_test.go")):
			return nil
		}
		text, err := os.ReadFile(path)
		if cited := CitedStatements(filepath.Base(path) + " " + string(text)); len(cited) > 0 {
			out[path] = cited
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestClaimsAreRead(t *testing.T) {
	t.Parallel()
	p := pkg(t, "internal/quality/archtest", `// p_test.go
package archtest
import "testing"
func TestSaid(t *testing.T) { t.Attr("spec", "CH-01.1"); t.Attr("result", "CH-09") }
func TestListed(t *testing.T) {
	for _, id := range []string{"RT-01", "PB-A02"} {
		t.Attr("spec", id)
	}
}
func TestTabled(t *testing.T) {
	for _, c := range []struct{ name, spec string }{{"RT-02 in words", "RT-03.1"}} {
		t.Run(c.name, func(t *testing.T) { t.Attr("spec", c.spec) })
	}
}
func claim(t *testing.T, ids ...string) { for _, id := range ids { t.Attr("spec", id) } }
func TestHanded(t *testing.T) { claim(t, "RC-01", "RC-02") }
func TestSecret(t *testing.T) { t.Attr("spec", secret()) }
`)
	claims, found := Claims("nowhere", []Package{p})
	var got []string
	for _, c := range claims {
		got = append(got, c.Statement+" "+c.Function)
	}
	want := []string{"CH-01.1 TestSaid", "PB-A02 TestListed", "RC-01 TestHanded", "RC-02 TestHanded", "RT-01 TestListed",
		"RT-03.1 TestTabled"}
	if !slices.Equal(got, want) {
		t.Errorf("claims %q, want %q", got, want)
	}
	wantOffences(t, found, "claims a statement that its source does not name")
}

func TestIndexIsFreshened(t *testing.T) {
	t.Parallel()
	index := ReadIndex(`<!-- totals -->
old
<!-- end -->
| RT-01 | A whole. | old |
| RT-01.1 | A part. |  |
| RT-01.2 | Another. | old |
| RT-02.1 | Lost. | old |
| RT-02.1 | Lost. | old |
`)
	if want := []string{"RT-02.1 does not follow RT-02", "RT-02.1 stands twice",
		"RT-02.1 does not follow RT-02"}; !slices.Equal(index.Problems(), want) {
		t.Errorf("problems %q, want %q", index.Problems(), want)
	}
	if got := index.Unknown(CitedStatements("as RT-01.1 and CH-30.2 say; SHA-256")); !slices.Equal(got,
		[]string{"CH-30.2"}) {
		t.Errorf("unknown: %q", got)
	}
	want := `<!-- totals -->
Of 5 statements 1 are claimed by tests of their own, 1 by tests of their scenarios; 3 have **no test**.
<!-- end -->
| RT-01 | A whole. | by 1 of its 2 scenarios |
| RT-01.1 | A part. | ` + "`TestA` (p)" + ` |
| RT-01.2 | Another. | **no test** |
| RT-02.1 | Lost. | **no test** |
| RT-02.1 | Lost. | **no test** |
`
	if got := index.Fresh([]Claim{{"RT-01.1", "p", "TestA"}}); got != want {
		t.Errorf("fresh:\n%s\nwant:\n%s", got, want)
	}
}
