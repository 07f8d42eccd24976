//pdpp:tier programs

package outsidetest

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestRelease builds a release from two checkouts of one commit, compares their bytes, and installs one of them as its
// user would. An archive, a list or a signature that was changed installs nothing.
func TestRelease(t *testing.T) {
	dir := t.TempDir()
	key := filepath.Join(dir, "key")
	command(t, dir, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "release", "-f", key)
	public := strings.Join(strings.Fields(read(t, key+".pub"))[:2], " ")
	var sums []string
	var release string
	for _, name := range []string{"one", "another one"} {
		source := filepath.Join(dir, name)
		checkout(t, source)
		build := exec.CommandContext(t.Context(), "scripts/release", "0.1.0")
		build.Dir = source
		build.Env = append(os.Environ(), "PDPP_RELEASE_KEY="+key, "PDPP_RELEASE_TARGETS=linux/"+runtime.GOARCH)
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("scripts/release: %v\n%s", err, out)
		}
		release = filepath.Join(source, "build", "release", "0.1.0")
		sums = append(sums, read(t, filepath.Join(release, "SHA256SUMS")))
	}
	if sums[0] != sums[1] || strings.Count(sums[0], "\n") != 5 {
		t.Errorf("two checkouts give different releases:\n%s\n%s", sums[0], sums[1])
	}

	to := filepath.Join(dir, "bin")
	install := func(from, key string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "sh", filepath.Join(release, "install.sh"), "--from", from, "--to", to,
			"--key", key)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	archive := "pdpp_0.1.0_linux_" + runtime.GOARCH + ".tar.gz"
	for name, damage := range map[string]func(folder string) (key string){
		"another key": func(string) string {
			command(t, dir, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, "other"))
			return read(t, filepath.Join(dir, "other.pub"))
		},
		"a changed archive": func(folder string) string {
			return changed(t, filepath.Join(folder, archive), public)
		},
		"a changed list": func(folder string) string {
			return changed(t, filepath.Join(folder, "SHA256SUMS"), public)
		},
		"no signature": func(folder string) string {
			if err := os.Remove(filepath.Join(folder, "SHA256SUMS.sig")); err != nil {
				t.Fatal(err)
			}
			return public
		},
	} {
		t.Run(name, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "release")
			if err := os.CopyFS(folder, os.DirFS(release)); err != nil {
				t.Fatal(err)
			}
			if out, err := install(folder, damage(folder)); err == nil || !strings.Contains(out, "install.sh: ") {
				t.Errorf("it was installed, or refused without a reason (%v): %s", err, out)
			}
			if _, err := os.Stat(filepath.Join(to, "pdpp")); err == nil {
				t.Error("a program was installed")
			}
		})
	}
	if out, err := install(release, public); err != nil {
		t.Fatalf("install.sh: %v\n%s", err, out)
	}
	var version struct {
		Version, Revision string
		Schema            int
	}
	pdpp := filepath.Join(to, "pdpp")
	if err := json.Unmarshal([]byte(command(t, dir, pdpp, "version", "--json")), &version); err != nil ||
		version.Version != "v0.1.0" || len(version.Revision) != 40 || version.Schema < 29 {
		t.Errorf("the installed program has the version %+v (%v)", version, err)
	}
	check := exec.CommandContext(t.Context(), pdpp, "upgrade", "--check", "--json")
	check.Env = append(os.Environ(), "PDPP_RELEASES="+release, "PDPP_RELEASES_KEY="+public)
	if out, err := check.CombinedOutput(); err != nil ||
		string(out) != `{"newer":false,"newest":"v0.1.0","running":"v0.1.0"}`+"\n" {
		t.Errorf("pdpp upgrade --check: %v\n%s", err, out)
	}
	modulesOf(t, filepath.Join(release, strings.TrimSuffix(archive, ".tar.gz")+".cdx.json"))
}

// modulesOf compares the list of modules of a release with what go says that the programs need.
func modulesOf(t *testing.T, list string) {
	t.Helper()
	var document struct {
		Components []struct{ Name, Version string }
	}
	if err := json.Unmarshal([]byte(read(t, list)), &document); err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, c := range document.Components {
		if c.Name != "stdlib" {
			listed = append(listed, c.Name+" "+c.Version)
		}
	}
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f",
		"{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}", "./cmd/...")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var needed []string
	for line := range strings.Lines(string(out)) {
		if path, version, _ := strings.Cut(strings.TrimSpace(line), " "); path != "" && path != modulePath+"/governor" {
			needed = append(needed, path+" "+version)
		}
	}
	slices.Sort(needed)
	slices.Sort(listed)
	listed = slices.DeleteFunc(listed, func(m string) bool {
		return strings.HasPrefix(m, modulePath+"/governor ") ||
			strings.HasPrefix(m, "./governor ")
	})
	if needed = slices.Compact(needed); !slices.Equal(listed, needed) {
		t.Errorf("the release lists %d modules, go %d:\n%q\n%q", len(listed), len(needed), listed, needed)
	}
}

// checkout commits a copy of this source to a repository of its own, with the same dates in each.
func checkout(t *testing.T, to string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		name, relErr := filepath.Rel(root, path)
		switch {
		case err != nil || relErr != nil:
			return err
		case name == ".git" || name == "build":
			if entry.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case entry.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o755)
		case !entry.Type().IsRegular():
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), text, info.Mode().Perm())
	})
	if err != nil {
		t.Fatal(err)
	}
	command(t, to, "git", "init", "--quiet")
	command(t, to, "git", "add", "--all")
	command(t, to, "git", "-c", "user.name=Ada Winter", "-c", "user.email=ada@localhost", "commit", "--quiet",
		"--message", "all")
}

// command runs a command in a folder at a fixed time and returns its output.
func command(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_DATE=2026-03-01T06:00:00Z", "GIT_COMMITTER_DATE=2026-03-01T06:00:00Z",
		"PDPP_HOME="+filepath.Join(dir, "home"))
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", strings.Join(args, " "), err)
	}
	return string(out)
}

// changed changes one byte of a file and returns the key.
func changed(t *testing.T, path, key string) string {
	t.Helper()
	text := []byte(read(t, path))
	text[len(text)/2] ^= 1
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return key
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
