package archtest

import (
	"path/filepath"
	"sync"
	"testing"
)

var root = filepath.Join("..", "..", "..")

var load = sync.OnceValues(func() ([]Package, error) { return Load(root) })

// module is every package of the repository, parsed once for all tests.
func module(t *testing.T) []Package {
	t.Helper()
	packages, err := load()
	if err != nil {
		t.Fatal(err)
	}
	return packages
}

// TestModule holds the repository to every rule. Each finding is one error that
// names the package, the offence and the reason.
func TestModule(t *testing.T) {
	t.Parallel()
	packages := module(t)
	folders, err := Folders(filepath.Join(root, "connectors"))
	if err != nil {
		t.Fatal(err)
	}
	for name, findings := range map[string][]Finding{
		"imports":            CheckImports(packages, Table),
		"groups":             CheckGroups(packages, Groups),
		"purity":             CheckPurity(packages),
		"package comments":   CheckPackageDocs(packages),
		"connector list":     CheckConnectorList(packages, folders),
		"connector requests": CheckConnectorRequests(packages),
		"environment":        CheckEnvironment(packages),
		"browser driver":     CheckBrowserDriver(packages),
	} {
		t.Run(name, func(t *testing.T) {
			for _, f := range findings {
				t.Error(f)
			}
		})
	}
}

// TestLoadSeesThisPackage guards against a loader that finds nothing, which
// would make every rule hold.
func TestLoadSeesThisPackage(t *testing.T) {
	t.Parallel()
	packages := module(t)
	for _, p := range packages {
		if p.Path != "internal/lab/archtest" {
			continue
		}
		var code, tests int
		for _, f := range p.Files {
			if f.Test {
				tests++
			} else {
				code++
			}
		}
		if code == 0 || tests == 0 {
			t.Errorf("loaded %d code files and %d test files of this package, want some of each", code, tests)
		}
		return
	}
	t.Errorf("%d packages loaded, this one is not among them", len(packages))
}
