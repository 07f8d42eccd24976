package connectors

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestNewConnectorStartsGreen runs scripts/new-connector in a copy of the tree. A name
// that cannot be a connector is refused and leaves nothing behind. With names that sort
// before, between and after those that are there the list stays in order, and each new
// connector builds and passes the first tier of its tests; its simulator serves a first
// run of the second.
func TestNewConnectorStartsGreen(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	copyTree(t, "..", root)
	before := listing(t, root)
	for _, name := range []string{"", "Bad-Name", "github", "func", "json", "x"} {
		if out, err := inTree(root, "scripts/new-connector", name); err == nil || !strings.HasPrefix(out, "new-connector: ") {
			t.Errorf("%q is accepted: %v\n%s", name, err, out)
		}
	}
	if after := listing(t, root); !slices.Equal(before, after) {
		t.Error("a refused name leaves files behind")
	}
	names := []string{"aardvarkmail", "fernlog", "zinniapost"}
	for _, name := range names {
		if out, err := inTree(root, "scripts/new-connector", name); err != nil {
			t.Fatalf("new-connector %s: %v\n%s", name, err, out)
		}
	}
	if out, err := inTree(root, "go", "build", "./connectors/..."); err != nil {
		t.Fatalf("a fresh copy does not build: %v\n%s", err, out)
	}
	// They differ in nothing but their names: the list is judged with all of them, and one is run.
	out, err := inTree(root, "go", "test", "-vet=off", "-ldflags=-s -w",
		"-run=^TestConformance$/^first_run$|^Test([^CN]|C[^o]|N[^e])", "./connectors", "./connectors/"+names[1])
	if err != nil || !strings.Contains(out, "/connectors/"+names[1]+"\t") || strings.Contains(out, "no tests to run") {
		t.Errorf("the tests of a fresh copy: %v\n%s", err, out)
	}
}

// inTree runs a command of the copied tree as a developer would.
func inTree(root, command string, args ...string) (string, error) {
	if strings.Contains(command, "/") {
		command = filepath.Join(root, command)
	}
	cmd := exec.Command(command, args...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOFLAGS=-trimpath -buildvcs=false", "CGO_ENABLED=0", "GOWORK=off",
		"PDPP_TEST_PROGRAMS=")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// copyTree copies the sources: neither history nor what the targets wrote.
func copyTree(t *testing.T, from, to string) {
	t.Helper()
	entries, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		src, dst := filepath.Join(from, e.Name()), filepath.Join(to, e.Name())
		switch {
		case e.Name() == ".git" || e.Name() == "build":
		case e.IsDir():
			if err := os.Mkdir(dst, 0o755); err != nil {
				t.Fatal(err)
			}
			copyTree(t, src, dst)
		case e.Type().IsRegular():
			info, err := e.Info()
			if err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(src)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(dst, data, info.Mode()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// listing returns the files of a tree.
func listing(t *testing.T, root string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		names = append(names, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
