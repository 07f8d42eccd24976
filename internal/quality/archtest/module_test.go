package archtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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
		"package size":       CheckPackageSize(packages),
		"complexity":         CheckComplexity(packages),
		"shared names":       CheckSharedNames(packages, MaxSharedNames),
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

// TestGovernorNeedsTheStandardLibraryOnly lists everything that the governor's module and its tests import, as go sees
// it from inside that module: a program that imports the governor gets no other module.
func TestGovernorNeedsTheStandardLibraryOnly(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("go", "list", "-deps", "-test", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "./...")
	cmd.Dir = filepath.Join(root, "governor")
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=readonly")
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, problems.String())
	}
	paths := strings.Fields(string(out))
	for _, path := range paths {
		if !strings.HasPrefix(strings.TrimPrefix(path, "["), modulePath+"/governor") {
			t.Errorf("the module imports %s", path)
		}
	}
	if len(paths) < 3 {
		t.Errorf("only %d packages: %q", len(paths), paths)
	}
}

// TestLoadSeesThisPackage guards against a loader that finds nothing, which
// would make every rule hold.
func TestLoadSeesThisPackage(t *testing.T) {
	t.Parallel()
	packages := module(t)
	for _, p := range packages {
		if p.Path != "internal/quality/archtest" {
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
