package catalog

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A connector's folder is read without waiting and without bound only if its files are plain and
// small. Everything else is a fault of that connector, and the others stay usable.
func TestHostileFolderFiles(t *testing.T) {
	plain := filepath.Join(t.TempDir(), "elsewhere.json")
	if err := os.WriteFile(plain, []byte(named("bad")), 0o644); err != nil {
		t.Fatal(err)
	}
	kinds := map[string]func(path string) error{
		"fifo":             func(path string) error { return syscall.Mkfifo(path, 0o644) },
		"link to a device": func(path string) error { return os.Symlink("/dev/zero", path) },
		"link to a file":   func(path string) error { return os.Symlink(plain, path) },
		"link to itself":   func(path string) error { return os.Symlink(path, path) },
		"folder":           func(path string) error { return os.Mkdir(path, 0o755) },
		"more than a mebibyte": func(path string) error {
			return os.WriteFile(path,
				[]byte("{"+strings.Repeat(" ", 1<<20)+"}"), 0o644)
		},
		"unreadable": func(path string) error { return os.WriteFile(path, []byte("{}"), 0) },
	}
	if os.Getuid() == 0 {
		delete(kinds, "unreadable") // root reads everything
	}
	for kind, make := range kinds {
		for _, file := range []string{"manifest.json", "adapter.json"} {
			t.Run(kind+" as "+file, func(t *testing.T) {
				dir := t.TempDir()
				install(t, dir, "bad", named("bad"), 0o755)
				install(t, dir, "good", named("good"), 0o755)
				path := filepath.Join(dir, "bad", file)
				_ = os.Remove(path)
				if err := make(path); err != nil {
					t.Fatal(err)
				}
				cat := Catalog{Dir: dir, Host: host(t, "echo '[]'")}
				entries, err := cat.List(t.Context())
				if err != nil || len(entries) != 2 {
					t.Fatalf("%d connectors listed: %v", len(entries), err)
				}
				var unusable *UnusableError
				if !errors.As(entries[0].Err, &unusable) || !strings.Contains(unusable.Error(), file) {
					t.Errorf("listed as %v", entries[0].Err)
				}
				if _, err := cat.Find(t.Context(), "bad"); !errors.As(err, &unusable) {
					t.Errorf("found: %v", err)
				}
				if _, err := cat.Find(t.Context(), "good"); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
