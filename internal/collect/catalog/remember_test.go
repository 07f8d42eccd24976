package catalog

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A result comes from the cache until its files change. An error is never cached.
func TestRemember(t *testing.T) {
	dir := t.TempDir()
	finder := Remember(Catalog{Dir: dir})
	if _, err := finder.Find(t.Context(), "notebook"); !errors.Is(err, ErrUnknownConnector) {
		t.Fatalf("before it is there: %v", err)
	}
	body := strings.ReplaceAll(minimal, "NAME", "notebook")
	install(t, dir, "notebook", body, 0o755)
	first, err := finder.Find(t.Context(), "notebook")
	if err != nil || first.Manifest.Version != "1" {
		t.Fatalf("%+v, %v", first, err)
	}
	again, err := finder.Find(t.Context(), "notebook")
	if err != nil || again.Manifest != first.Manifest {
		t.Errorf("asked twice: %v, %v", again.Manifest, err)
	}
	install(t, dir, "notebook", strings.Replace(body, `"version":"1"`, `"version":"2.0"`, 1), 0o755)
	if replaced, err := finder.Find(t.Context(), "notebook"); err != nil || replaced.Manifest.Version != "2.0" {
		t.Errorf("after an upgrade: %+v, %v", replaced.Manifest, err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "notebook")); err != nil {
		t.Fatal(err)
	}
	if _, err := finder.Find(t.Context(), "notebook"); !errors.Is(err, ErrUnknownConnector) {
		t.Errorf("after it was removed: %v", err)
	}

	install(t, dir, "a-download", body, 0o755)
	if c, err := finder.Find(t.Context(), "notebook"); err != nil || filepath.Base(c.Dir) != "a-download" {
		t.Errorf("in a folder of another name: %+v, %v", c, err)
	}
	install(t, dir, "notebook", body, 0o755)
	if c, err := finder.Find(t.Context(), "notebook"); err != nil || filepath.Base(c.Dir) != "notebook" {
		t.Errorf("once a folder has its name: %+v, %v", c, err)
	}
}

// The owner's choice between a built-in connector and the one in the folder with its key takes effect at once, in a
// finder that remembers too.
func TestChoiceBetweenSameKeys(t *testing.T) {
	dir := t.TempDir()
	install(t, dir, "github", named("github"), 0o755)
	var inPlace bool
	cat := Catalog{Dir: dir, Host: host(t, `[ "$1" = list ] && echo '[{"name":"github"}]' || cat <<'END'
`+named("github")+`
END`), Choices: func(_ context.Context, key string) (Choice, error) {
		return Choice{InPlace: inPlace && key == "github"}, nil
	}}
	finder := Remember(cat)
	for _, inPlace = range []bool{false, true, false} {
		found, err := finder.Find(t.Context(), "github")
		if err != nil || found.Builtin == inPlace {
			t.Errorf("with the choice %v: built in %v, %v", inPlace, found.Builtin, err)
		}
		names, err := cat.Names(t.Context())
		if beside := slices.Contains(names, "github_folder"); err != nil || beside == inPlace {
			t.Errorf("with the choice %v the names are %v, %v", inPlace, names, err)
		}
	}
	if _, err := cat.Find(t.Context(), "gitlab_folder"); !errors.Is(err, ErrUnknownConnector) {
		t.Errorf("a name beside nothing: %v", err)
	}
}
