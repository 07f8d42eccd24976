package outsidetest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

// TestPackageTexts fills the formula and the manifest with the sums of a release. A release without one of the archives
// is refused.
func TestPackageTexts(t *testing.T) {
	dir := t.TempDir()
	var list strings.Builder
	sums := map[string]string{}
	for i, name := range []string{"darwin_amd64.tar.gz", "darwin_arm64.tar.gz", "linux_amd64.tar.gz", "linux_arm64.tar.gz",
		"windows_amd64.zip", "windows_arm64.zip"} {
		sums[name] = strings.Repeat(fmt.Sprint(i+1), 64)
		fmt.Fprintf(&list, "%s  pdpp_1.2.3_%s\n", sums[name], name)
	}
	run := func(list string) error {
		if err := os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(list), 0o600); err != nil {
			t.Fatal(err)
		}
		return exec.CommandContext(t.Context(), filepath.Join(root, "scripts", "package-texts"), dir,
			"https://downloads.example.org/1.2.3/").Run()
	}
	if err := run(list.String()); err != nil {
		t.Fatal(err)
	}
	formula, manifest := read(t, filepath.Join(dir, "pdpp.rb")), read(t, filepath.Join(dir, "winget.yaml"))
	for name, sum := range sums {
		line := fmt.Sprintf("url \"https://downloads.example.org/1.2.3/pdpp_1.2.3_%s\"\n      sha256 %q\n", name, sum)
		if strings.HasSuffix(name, ".tar.gz") && !strings.Contains(formula, line) {
			t.Errorf("the formula has no %s:\n%s", name, formula)
		}
		line = fmt.Sprintf("Url: https://downloads.example.org/1.2.3/pdpp_1.2.3_%s\n    InstallerSha256: %s\n", name, sum)
		if strings.HasSuffix(name, ".zip") && !strings.Contains(manifest, line) {
			t.Errorf("the manifest has no %s:\n%s", name, manifest)
		}
	}
	if err := yaml.Unmarshal([]byte(manifest), &map[string]any{}); err != nil {
		t.Error(err)
	}
	for _, line := range strings.SplitAfter(list.String(), "\n")[:6] {
		if run(strings.Replace(list.String(), line, "", 1)) == nil {
			t.Errorf("without %q it wrote texts", line)
		}
	}
}

var variableName = regexp.MustCompile(`\bPDPP_[A-Z_]+\b`)

// TestContainerFiles checks the files for Docker Compose and Kubernetes against schemas of the parts that they use, and
// every variable that they set against the documented ones.
func TestContainerFiles(t *testing.T) {
	documented := read(t, filepath.Join(root, "docs", "operate", "variables.md"))
	for pattern, schema := range map[string]string{"compose/*.yml": "compose.schema.json",
		"kubernetes/*.yaml": "kubernetes.schema.json"} {
		check, err := jsonschema.NewCompiler().Compile(filepath.Join("testdata", schema))
		if err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(root, "packaging", pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("no files %s: %v", pattern, err)
		}
		for _, path := range files {
			text := read(t, path)
			for _, document := range documents(t, text) {
				if err := check.Validate(document); err != nil {
					t.Errorf("%s: %v", filepath.Base(path), err)
				}
			}
			for _, name := range variableName.FindAllString(text, -1) {
				if !strings.Contains(documented, "`"+strings.TrimSuffix(name, "_FILE")+"`") {
					t.Errorf("%s sets %s, which is not documented", filepath.Base(path), name)
				}
			}
			for _, wrong := range spoiled(documents(t, text)[0].(map[string]any)) {
				if check.Validate(wrong) == nil {
					t.Errorf("%s: the schema accepts %v", filepath.Base(path), slices.Collect(maps.Keys(wrong)))
				}
			}
		}
	}
}

// spoiled returns documents that no schema may accept: with a misspelt name, and without each name that it has.
func spoiled(d map[string]any) (all []map[string]any) {
	more := maps.Clone(d)
	more["servicess"] = map[string]any{}
	all = append(all, more)
	for _, name := range []string{"services", "spec", "kind"} {
		if _, ok := d[name]; ok {
			less := maps.Clone(d)
			delete(less, name)
			all = append(all, less)
		}
	}
	return all
}

func documents(t *testing.T, text string) (all []any) {
	t.Helper()
	for decoder := yaml.NewDecoder(bytes.NewReader([]byte(text))); ; {
		var document any
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, document)
	}
}
