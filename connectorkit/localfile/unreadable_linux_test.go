package localfile_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/localfile"
)

// nobody is a user without the rights of root.
const nobody = 65534

// asNobody lets a test run as another user when it runs as root. It reports whether it has.
func asNobody(t *testing.T) bool {
	t.Helper()
	if os.Getuid() != 0 {
		return false
	}
	dir := t.TempDir()
	for _, up := range []string{dir, filepath.Dir(dir)} {
		if err := os.Chmod(up, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(dir, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v", "-test.count=1")
	cmd.Dir, cmd.Env = dir, []string{"TMPDIR=" + dir, "HOME=" + dir}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Fatalf("as another user: %v\n%s", err, out)
	}
	return true
}

// TestUnreadable holds that what the system refuses is a gap, by file and by folder, that
// every file is accounted for all the same, and that it is collected once it may be read.
func TestUnreadable(t *testing.T) {
	if asNobody(t) {
		return
	}
	w := newTree(t)
	w.write("logs/a.jsonl", ids("a-1"))
	w.write("logs/shut.jsonl", ids("shut-1"))
	w.write("logs/closed/b.jsonl", ids("b-1", "b-2"))
	w.write("logs/left/out.jsonl", ids("out-1"))
	w.write("notes/x.md", "x")
	w.write("notes/y.md", "y")
	w.write("cache/z", "z")
	w.write("secret.json", "{}")
	refused := []string{"logs/shut.jsonl", "logs/closed", "notes/y.md"}
	for _, rel := range append(refused, "secret.json", "cache/z") {
		w.must(os.Chmod(w.path(rel), 0))
	}
	t.Cleanup(func() { _ = os.Chmod(w.path("logs/closed"), 0o700) })
	src := logs(w.dir)
	src.Exclude = func(_, rel string) bool { return strings.HasPrefix(rel, "logs/left/") }
	c := newCollected(t, src)
	for range 2 { // a second look finds the same
		c.run()
		var files []string
		for _, g := range c.gaps {
			if g.Reason != localfile.ReasonUnreadable || !g.Retryable {
				t.Errorf("gap %s of %s", g.Reason, g.DetailLocator)
			}
			for _, rel := range refused {
				if strings.Contains(string(g.DetailLocator), `"file":"`+rel+`"`) {
					files = append(files, rel)
				}
			}
		}
		slices.Sort(files)
		if want := slices.Sorted(slices.Values(refused)); len(c.gaps) != len(refused) || !slices.Equal(files, want) {
			t.Fatalf("declared as missing: %v, want %v", files, want)
		}
		for store, want := range map[string][4]int64{"logs": {4, 1, 2, 1}, "notes": {2, 1, 1, 0}, "cache": {1, 1, 0, 0},
			"secret": {1, 1, 0, 0}} {
			got := c.coverage(store)
			if (got.FilesPresent != got.FilesRead+got.FilesUnreadable+got.FilesExcluded) || got.FilesWaiting != 0 ||
				[4]int64{got.FilesPresent, got.FilesRead, got.FilesUnreadable, got.FilesExcluded} != want {
				t.Errorf("account of %s: %+v, want %v", store, got, want)
			}
		}
		if got := c.lines(); !slices.Equal(got, []string{"a-1"}) {
			t.Errorf("lines %v", got)
		}
	}
	w.must(os.Chmod(w.path("logs/closed"), 0o700))
	for _, rel := range []string{"logs/shut.jsonl", "notes/y.md"} {
		w.must(os.Chmod(w.path(rel), 0o600))
	}
	c.run()
	if got := c.lines(); !slices.Equal(got, []string{"a-1", "b-1", "b-2", "shut-1"}) || len(c.records["notes"]) != 2 {
		t.Errorf("lines %v and %d notes once they may be read", got, len(c.records["notes"]))
	}
	if len(c.gaps) != 0 || c.coverage("logs").FilesUnreadable != 0 {
		t.Errorf("%d gaps are left, account %+v", len(c.gaps), c.coverage("logs"))
	}
}

// TestNothingMayBeRead holds what the owner reads when the only folder is refused.
func TestNothingMayBeRead(t *testing.T) {
	if asNobody(t) {
		return
	}
	w := newTree(t)
	w.write("logs/a.jsonl", ids("a-1"))
	w.must(os.Chmod(w.dir, 0))
	t.Cleanup(func() { _ = os.Chmod(w.dir, 0o700) })
	c := newCollected(t, logs(w.dir))
	c.tryRun()
	if c.done.Error == nil || !strings.Contains(c.done.Error.Message,
		"may not be read: let the user that collects read it") {
		t.Fatalf("%+v", c.done.Error)
	}
	w.must(os.Chmod(w.dir, 0o700))
	c.run()
	if got := c.lines(); !slices.Equal(got, []string{"a-1"}) {
		t.Errorf("lines %v", got)
	}
}
