package conformance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/manifest/folder"
	"github.com/pdpp-go/pdpp/providersim/sample"
)

// TestPythonExample runs the checks on the connector in Python that docs/extend/protocol/python.md shows, and compares
// the page with the file.
func TestPythonExample(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("..", "docs", "extend", "examples", "python")
	source, err := os.ReadFile(filepath.Join(dir, "connector"))
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join("..", "docs", "extend", "protocol", "python.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "```python\n"+string(source)+"```\n") {
		t.Error("docs/extend/protocol/python.md shows another text than docs/extend/examples/python/connector")
	}
	example, err := folder.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	service, err := sample.Start(sample.Config{Seed: 7, Events: 120, Token: "invented"})
	if err != nil {
		t.Fatal(err)
	}
	defer service.Close()
	settings := map[string]string{"FERNPOST_BASE_URL": service.BaseURL, "FERNPOST_TOKEN": "invented"}
	report, err := Run(t.Context(), Target{
		Manifest: example.Manifest, Command: []string{example.Executable},
		Lookup: func(name string) (string, bool) { value, ok := settings[name]; return value, ok },
	})
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	if err := report.Print(&table); err != nil {
		t.Fatal(err)
	}
	if report.Result() != Passed {
		t.Error(table.String())
	}
}
