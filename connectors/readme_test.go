package connectors

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/quality/goldentest"
	"github.com/pdpp-go/pdpp/manifest"
)

// TestReadmeListsTheSources compares the table of sources in README.md with the manifests. With -update it rewrites
// the table.
func TestReadmeListsTheSources(t *testing.T) {
	t.Parallel()
	const begin, end = "<!-- sources: go test ./connectors -run Readme -update -->\n", "<!-- end of sources -->\n"
	file := filepath.Join("..", "README.md")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	table, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("README.md has no table of sources between %q and %q", begin, end)
	}
	want := sourceTable()
	if goldentest.Updating() {
		if err := os.WriteFile(file, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if table != want {
		t.Errorf("the table of sources in README.md is out of date; run this test with -update\nwant\n%s", want)
	}
}

// connectedBy describes each modality for a reader who chooses a source.
var connectedBy = map[manifest.Modality]string{
	manifest.ModalityStaticSecret:   "token or password",
	manifest.ModalityProviderAuth:   "sign-in at the provider (OAuth)",
	manifest.ModalityManualOrUpload: "export file",
	manifest.ModalityLocalFiles:     "files on your computer",
	manifest.ModalityBrowserSession: "sign-in in a browser",
}

func sourceTable() string {
	var rows []string
	for _, entry := range Registered {
		m := entry.New().Manifest
		if strings.HasPrefix(entry.Name, "example") {
			continue
		}
		var collected []string
		for _, s := range m.Streams {
			if s.Display == nil || s.Display.Label == "" || strings.HasPrefix(s.Display.Label, "What was found") {
				continue // it describes the collection itself
			}
			label := strings.TrimPrefix(s.Display.Label, "Your ")
			word, _, _ := strings.Cut(label, " ")
			if lower := strings.ToLower(label[:1]) + label[1:]; (strings.EqualFold(word, s.Name) ||
				!strings.Contains(m.DisplayName, word)) &&
				strings.ToLower(word) == lower[:len(word)] {
				label = lower // the first word is not a name
			}
			collected = append(collected, label)
		}
		way := connectedBy[m.Setup.Modality]
		if c := m.Setup.CredentialCapture; m.Setup.Modality == manifest.ModalityStaticSecret &&
			!slices.ContainsFunc(c.Fields, func(f manifest.CredentialField) bool { return f.Secret }) {
			way = "user name"
		}
		rows = append(rows, fmt.Sprintf("| %s | %s | %s |\n", m.DisplayName, way, strings.Join(collected, ", ")))
	}
	slices.SortFunc(rows, func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
	return "| source | connected by | collected |\n|---|---|---|\n" + strings.Join(rows, "")
}
