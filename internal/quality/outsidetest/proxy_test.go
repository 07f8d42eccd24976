package outsidetest

import (
	"archive/zip"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// version is that of both modules at the proxy.
const version = "v0.1.0"

var root = filepath.Join("..", "..", "..")

// outside is a machine that has Go and a module proxy, and nothing of this repository.
type outside struct{ env []string }

// newOutside makes the proxy and a module cache without this repository's modules.
func newOutside(t *testing.T) *outside {
	t.Helper()
	dir := t.TempDir()
	proxy := filepath.Join(dir, "proxy")
	for _, folder := range []string{".", "governor"} {
		publish(t, filepath.Join(root, folder), proxy)
	}
	local, cache := goEnv(t, "GOMODCACHE"), filepath.Join(dir, "cache")
	downloads := filepath.Join(local, "cache", "download")
	for _, folder := range []string{".", filepath.Join("cache", "download")} {
		if err := share(filepath.Join(local, folder), filepath.Join(cache, folder)); err != nil {
			t.Fatal(err)
		}
	}
	return &outside{env: append(os.Environ(), "GOPROXY=file://"+proxy+",file://"+downloads, "GOMODCACHE="+cache,
		"GOSUMDB=off", "GOWORK=off", "GOTOOLCHAIN=local", "GOFLAGS=-mod=mod -modcacherw -trimpath", "CGO_ENABLED=0")}
}

// share links the modules of one cache into another, except for those of this repository's owner, so that none is
// unpacked again.
func share(from, to string) error {
	host, rest, _ := strings.Cut(modulePath, "/")
	owner, _, _ := strings.Cut(rest, "/")
	if err := link(from, to, "cache", host); err != nil {
		return err
	}
	return link(filepath.Join(from, host), filepath.Join(to, host), owner)
}

// link fills a folder with links to the folders of another one.
func link(from, to string, except ...string) error {
	entries, err := os.ReadDir(from)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() || slices.Contains(except, e.Name()) {
			continue
		}
		if err := os.Symlink(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

var moduleLine = regexp.MustCompile(`(?m)^module (\S+)$`)

// publish puts the module in a folder at the proxy: what go reads of a module, from the files of the working tree.
func publish(t *testing.T, folder, proxy string) {
	t.Helper()
	mod, err := os.ReadFile(filepath.Join(folder, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	module := string(moduleLine.FindSubmatch(mod)[1])
	at := filepath.Join(proxy, filepath.FromSlash(module), "@v")
	if err := os.MkdirAll(at, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"list": version + "\n", version + ".mod": string(mod),
		version + ".info": `{"Version":"` + version + `","Time":"2026-01-01T00:00:00Z"}`,
	} {
		if err := os.WriteFile(filepath.Join(at, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive(folder, filepath.Join(at, version+".zip"), module+"@"+version); err != nil {
		t.Fatal(err)
	}
}

// archive packs a module: all files but those of tests, other modules, and what was built.
func archive(folder, file, prefix string) error {
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	packed := zip.NewWriter(out)
	err = filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == folder {
			return err
		}
		if d.IsDir() {
			_, other := os.Stat(filepath.Join(name, "go.mod"))
			if other == nil || slices.Contains([]string{".git", "build", "testdata", "docs"}, d.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		below, err := filepath.Rel(folder, name)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		header := &zip.FileHeader{Name: path.Join(prefix, filepath.ToSlash(below)), Method: zip.Store}
		entry, err := packed.CreateHeader(header)
		if err != nil {
			return err
		}
		_, err = entry.Write(text)
		return err
	})
	if err != nil {
		return err
	}
	if err := packed.Close(); err != nil {
		return err
	}
	return out.Close()
}

// module writes the files of an archive in testdata to a folder of its own and returns the folder, once go mod tidy has
// written its requirements.
func (o *outside) module(t *testing.T, name string) string {
	t.Helper()
	text, err := txtar.ParseFile(filepath.Join("testdata", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, f := range text.Files {
		if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o.run(t, dir, "go", "mod", "tidy", "-e") // tests of libraries import what the local cache may lack
	return dir
}

// run runs a command in a folder and returns its standard output.
func (o *outside) run(t *testing.T, dir string, command ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	var problems strings.Builder
	cmd.Dir, cmd.Env, cmd.Stderr = dir, o.env, &problems
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", strings.Join(command, " "), err, out, problems.String())
	}
	return string(out)
}
