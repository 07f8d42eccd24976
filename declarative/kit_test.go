//pdpp:tier programs

package declarative_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/conformance"
	"github.com/pdpp-go/pdpp/declarative"
	"github.com/pdpp-go/pdpp/declarative/describe"
	"github.com/pdpp-go/pdpp/declarative/tryout"
	"github.com/pdpp-go/pdpp/internal/quality/programs"
)

// The kit that authors use passes for the source files of ours, with the real program and a generated provider: for
// three of four, which take half a second of processor time each, and in the long form for all.
func TestKitOfOwnFiles(t *testing.T) {
	t.Parallel()
	host := t.TempDir()
	if err := programs.Build(host, "cmd/pdpp-connectors"); err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob(filepath.Join("testdata", "manifests", "*.yaml"))
	if err != nil || len(paths) < 80 {
		t.Fatalf("%d source files: %v", len(paths), err)
	}
	folders := t.TempDir()
	for i, path := range paths {
		if i%4 == 0 && os.Getenv("PDPP_CHAOS_MINUTES") == "" {
			continue
		}
		name := strings.TrimSuffix(filepath.Base(path), ".yaml")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(folders, name)
			d, err := declarative.Wrap(dir, text, describe.Options{Key: name})
			if err != nil {
				t.Fatal(err)
			}
			account, err := tryout.NewAccount(d, tryout.Options{Key: name, Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			defer account.Close()
			report, err := conformance.Run(t.Context(), conformance.Target{Manifest: d.Manifest,
				Command: []string{filepath.Join(host, "pdpp-connectors"), "adapt", dir},
				Lookup:  func(name string) (string, bool) { value, ok := account.Env[name]; return value, ok }})
			if err != nil {
				t.Fatal(err)
			}
			var table strings.Builder
			if err := report.Print(&table); err != nil || report.Result() != conformance.Passed {
				t.Errorf("%v\n%s", err, &table)
			}
		})
	}
}
