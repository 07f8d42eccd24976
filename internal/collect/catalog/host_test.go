package catalog

import (
	"os"
	"path/filepath"
	"testing"
)

// The host program is started once for a question, until it is another file; a refusal is asked
// for again.
func TestHostIsAskedOnce(t *testing.T) {
	times := filepath.Join(t.TempDir(), "times")
	script := "echo >>" + times + "\n[ \"$1\" = list ] || exit 1\necho '[]'\n"
	c := Catalog{Host: host(t, script)}
	asked := func(want int, args ...string) {
		t.Helper()
		_, err := c.askHost(t.Context(), args...)
		if (err == nil) != (args[0] == "list") {
			t.Fatal(err)
		}
		if all, err := os.ReadFile(times); err != nil || len(all) != want {
			t.Errorf("%v: started %d times, want %d, %v", args, len(all), want, err)
		}
	}
	asked(1, "list")
	asked(1, "list")
	asked(2, "list", "--json")
	asked(3, "manifest", "x")
	asked(4, "manifest", "x")
	if err := os.WriteFile(c.Host, []byte("#!/bin/sh\n# newer\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	asked(5, "list")
	asked(5, "list")
}

// All built-in connectors are described by one start of the host. Where one of them is at fault,
// the others are described all the same.
func TestListAsksForAllAtOnce(t *testing.T) {
	for broken, starts := range map[string]int{"none": 2, "two": 7} {
		dir := t.TempDir()
		times := filepath.Join(dir, "times")
		for _, name := range []string{"one", "two", "three"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(named(name)+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.RemoveAll(filepath.Join(dir, broken)); err != nil {
			t.Fatal(err)
		}
		c := Catalog{Host: host(t, "echo >>"+times+`
[ "$1" != list ] || exec echo '[{"name":"one"},{"name":"two"},{"name":"three"}]'
shift
cd `+dir+` && cat "$@"`)}
		all, err := c.List(t.Context())
		if err != nil || len(all) != 3 {
			t.Fatal(all, err)
		}
		for _, e := range all {
			if failed := e.Err != nil; failed != (e.Name == broken) || !failed && e.Connector.Manifest.Key() != e.Name {
				t.Errorf("%s broken: %s is %+v, %v", broken, e.Name, e.Connector, e.Err)
			}
		}
		if again, err := c.List(t.Context()); err != nil || again[0].Connector.Manifest != all[0].Connector.Manifest {
			t.Errorf("what is known is read again: %v", err)
		}
		if asked, err := os.ReadFile(times); err != nil || len(asked) != starts {
			t.Errorf("%s broken: started %d times, want %d, %v", broken, len(asked), starts, err)
		}
	}
}

// A host that the system finds on its path answers too, and nothing of it is kept.
func TestHostOnThePath(t *testing.T) {
	c := Catalog{Host: "pdpp-host-of-a-test"}
	script := "#!/bin/sh\n[ \"$1\" = list ] && echo '[{\"name\":\"github\"}]' || cat <<'END'\n" + named("github") +
		"\nEND\n"
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, c.Host), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	if all, err := c.List(t.Context()); err != nil || len(all) != 1 || all[0].Err != nil {
		t.Errorf("%+v, %v", all, err)
	}
}
