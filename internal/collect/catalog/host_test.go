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
