package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/storage/store/postgres/postgrestest"
)

// TestExportWhileDeleting holds that an export under way hands out nothing that was deleted for good before it was
// read. A reader that stops after the first record gets what was on its way then, and no more.
func TestExportWhileDeleting(t *testing.T) {
	const records, held = 600, 150 // held bounds what one page, the buffers and the pipe hold
	var script strings.Builder
	for i := range records {
		fmt.Fprintf(&script, "record entries e%d {\"id\":\"e%d\",\"text\":%q}\n", i, i, strings.Repeat("quince ", 600))
	}
	script.WriteString("done\n")
	for name, database := range map[string]string{"sqlite": "", "postgres": postgrestest.NewDatabase(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			dir := filepath.Join(home, "connectors", "orchard")
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			manifest, err := os.ReadFile("testdata/orchard.json")
			if err != nil {
				t.Fatal(err)
			}
			for file, body := range map[string][]byte{"manifest.json": manifest, "script": []byte(script.String())} {
				if err := os.WriteFile(filepath.Join(dir, file), body, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Symlink(filepath.Join(ownPrograms(os.Getenv("PATH")), "fakeconnector"),
				filepath.Join(dir, "connector")); err != nil {
				t.Fatal(err)
			}
			pdpp := func(args ...string) *exec.Cmd {
				cmd := exec.CommandContext(t.Context(), "pdpp", args...)
				cmd.Env = append(os.Environ(), "PDPP_HOME="+home, "PDPP_DATABASE_URL="+database)
				return cmd
			}
			for _, args := range [][]string{{"connections", "add", "orchard"}, {"run", "orchard"}} {
				if out, err := pdpp(args...).CombinedOutput(); err != nil {
					t.Fatalf("pdpp %v: %v\n%s", args, err, out)
				}
			}
			export := pdpp("export", "entries")
			pipe, err := export.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := export.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewReaderSize(pipe, 16)
			if _, err := lines.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			out, err := pdpp("delete", "orchard", "--stream", "entries", "--yes", "--now").CombinedOutput()
			if err != nil || !strings.Contains(string(out), fmt.Sprint("Deleted for good: ", records, " records")) {
				t.Fatalf("%v\n%s", err, out)
			}
			rest, err := io.ReadAll(lines)
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(rest), `"text":`); n > held {
				t.Errorf("%d records were handed out after they were deleted", n)
			}
			if err := export.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
}
