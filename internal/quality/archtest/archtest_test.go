//pdpp:tier programs

package archtest

import (
	"fmt"
	"go/token"
	"path"
	"strings"
	"testing"
)

// pkg makes a package from sources. Each is a file, named by its first line as
// "// name.go" when the name matters; the rest are code files.
func pkg(t *testing.T, at string, sources ...string) Package {
	t.Helper()
	own := strings.NewReplacer(`"own/`, `"`+modulePath+"/")
	p := Package{Path: at, Fset: token.NewFileSet()}
	for i, src := range sources {
		name := fmt.Sprintf("file%d.go", i)
		if first, rest, _ := strings.Cut(src, "\n"); strings.HasPrefix(first, "// ") && strings.HasSuffix(first, ".go") {
			name, src = strings.TrimPrefix(first, "// "), rest
		}
		f, err := parseFile(p.Fset, name, []byte(own.Replace(src)))
		if err != nil {
			t.Fatalf("parse made-up package %s: %v", at, err)
		}
		p.Name = f.AST.Name.Name
		p.Files = append(p.Files, f)
	}
	return p
}

// importing returns a package that imports the paths.
func importing(t *testing.T, at string, imports ...string) Package {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "package %s\n", strings.ReplaceAll(path.Base(at), "-", "_"))
	for _, i := range imports {
		fmt.Fprintf(&b, "import %q\n", i)
	}
	return pkg(t, at, b.String())
}

// wantOffences compares what was found with fragments of what should have been,
// one per finding and in order, and wants a reason with each.
func wantOffences(t *testing.T, found []Finding, want ...string) {
	t.Helper()
	for i, f := range found {
		if i >= len(want) {
			t.Errorf("unexpected finding: %v", f)
			continue
		}
		if got := f.Where + ": " + f.Offence; !strings.Contains(got, want[i]) {
			t.Errorf("finding %d is %q, want it to contain %q", i, got, want[i])
		}
		if f.Reason == "" {
			t.Errorf("finding %d gives no reason", i)
		}
	}
	for _, w := range want[min(len(found), len(want)):] {
		t.Errorf("nothing found for %q", w)
	}
}

func TestMatches(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, pkg string
		want         bool
	}{
		{"protocol", "protocol", true},
		{"protocol", "protocol/wire", false},
		{"connectors/*", "connectors/github", true},
		{"connectors/*", "connectors", false},
		{"connectors/*", "connectors/github/api", false},
		{"internal/...", "internal/storage/store/sqlite", true},
		{"internal/storage/store/...", "internal/storage/store", true},
		{"internal/storage/store/...", "internal/storefront", false},
	} {
		if got := matches(c.pattern, c.pkg); got != c.want {
			t.Errorf("matches(%q, %q) = %t, want %t", c.pattern, c.pkg, got, c.want)
		}
	}
}

func TestFindingSaysWhereWhatAndWhy(t *testing.T) {
	t.Parallel()
	got := Finding{"internal/judge/health", "imports os", "it is pure"}.String()
	for _, part := range []string{"internal/judge/health", "imports os", "it is pure"} {
		if !strings.Contains(got, part) {
			t.Errorf("%q lacks %q", got, part)
		}
	}
}
