package localfile

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// TestDeniedRoot looks as a user who may not list a root, which only the system can refuse: the
// root is a gap of its own, and what else may be read is. To root nothing is refused, so it looks
// with the rights of another.
func TestDeniedRoot(t *testing.T) {
	shut, open := t.TempDir(), t.TempDir()
	for _, dir := range []string{shut, open, filepath.Dir(shut)} {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(open, "History.db"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(shut, 0o311); err != nil {
		t.Fatal(err)
	}
	read := func(*File, []byte) error { return nil }
	s := &Source{Roots: []Root{{Name: "shut", Path: shut}, {Name: "open", Path: open}}, Stores: []Store{
		{Name: "listed", Root: "shut", Patterns: []string{"**"}, Listed: "x"},
		{Name: "shut", Root: "shut", Patterns: []string{"*/History.db"}, Streams: []string{"visits"}, Whole: read},
		{Name: "open", Root: "open", Patterns: []string{"History.db"}, Streams: []string{"visits"}, Whole: read},
	}}
	look := func() *treeWalk {
		t.Helper()
		if os.Getuid() == 0 {
			runtime.LockOSThread() // the right to files is a thread's own
			defer runtime.UnlockOSThread()
			if err := syscall.Setfsuid(65534); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = syscall.Setfsuid(0) }()
		}
		w, err := s.walkRoots(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	w := look()
	defer w.closeTrees()
	if !w.trees[0].isDenied() || w.trees[1].isDenied() || len(w.files) != 1 {
		t.Fatalf("denied: %v, %v; %d files", w.trees[0].broken, w.trees[1].broken, len(w.files))
	}
	if len(w.closed) != 1 || w.closed[0].store.Name != "shut" || w.closed[0].standing != fileUnreadable {
		t.Errorf("what cannot be listed: %+v", w.closed)
	}
	r := &sourceReader{src: s, walk: w, steady: &fileCursor{}, selected: map[string]bool{"visits": true}}
	if r.folderWasListed("shut", ".") {
		t.Error("the gap would be settled")
	}
	if got := r.coverageStatus(&s.Stores[1], &Coverage{FilesPresent: 1}); got != statusUnavailable {
		t.Errorf("status %s", got)
	}
	if err := os.Chmod(shut, 0o755); err != nil {
		t.Fatal(err)
	}
	w2 := look()
	defer w2.closeTrees()
	r.walk = w2
	if len(w2.closed) != 0 || !r.folderWasListed("shut", ".") {
		t.Error("the gap stays although the root can be listed")
	}
}

func TestPermissionNext(t *testing.T) {
	for system, want := range map[string]string{
		"darwin": "switch on Full Disk Access for the program that collects, in System Settings, Privacy & Security",
		"linux":  "let the user that collects read it",
	} {
		if got := permissionNext(system); got != want {
			t.Errorf("%s: %s", system, got)
		}
	}
}

// TestDepth holds that nothing is looked at below the paths of the stores.
func TestDepth(t *testing.T) {
	dir := t.TempDir()
	for _, rel := range []string{"a/History", "a/b/History", "a/b/c/d", "History"} {
		to := filepath.Join(dir, rel)
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := &Source{Roots: []Root{{Name: "r", Path: dir, Depth: 2}},
		Stores: []Store{{Name: "all", Root: "r", Patterns: []string{"**"}}}}
	w, err := s.walkRoots(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.closeTrees()
	if len(w.files) != 2 || len(w.unknown) != 0 {
		t.Errorf("%d files, unknown %v", len(w.files), w.unknown)
	}
}
