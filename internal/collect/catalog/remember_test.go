package catalog

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An answer is given from memory until what it rests on changes, and an error is
// never given from memory.
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
