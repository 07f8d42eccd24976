package archtest

import (
	"strings"
	"testing"
)

func TestEnvironment(t *testing.T) {
	t.Parallel()
	const head = "package p\nimport \"os\"\n"
	for name, c := range map[string]struct {
		at, src string
		want    []string
	}{
		"getenv": {"internal/storage/store", head + "var v = os.Getenv(\"A\")\n",
			[]string{"internal/storage/store/file0.go:3: uses os.Getenv"}},
		"lookup": {"internal/web/server", head + "var v, ok = os.LookupEnv(\"A\")\n", []string{"uses os.LookupEnv"}},
		"whole":  {"internal/collect/runner", head + "var v = os.Environ()\n", []string{"uses os.Environ"}},
		"renamed": {"internal/collect/runner", "package p\nimport sys \"os\"\nvar v = sys.Getenv\n",
			[]string{"uses os.Getenv"}},
		"by syscall": {"internal/collect/runner", "package p\nimport \"syscall\"\nvar v = syscall.Environ()\n",
			[]string{"uses syscall.Environ"}},
		"other os use": {"internal/collect/runner", head + "var v = os.Stdin\n", nil},
		"command":      {"cmd/pdpp", head + "var v = os.Getenv(\"A\")\n", nil},
		"kit":          {"connectorkit", head + "var v = os.Getenv(\"A\")\n", nil},
		"tool":         {"internal/quality/tools/bench", head + "var v = os.Getenv(\"A\")\n", nil},
		"test support": {"internal/storage/store/storetest", head + "var v = os.Getenv(\"A\")\n", nil},
		"test file":    {"internal/storage/store", "// store_test.go\n" + head + "var v = os.Getenv(\"A\")\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantOffences(t, CheckEnvironment([]Package{pkg(t, c.at, c.src)}), c.want...)
		})
	}
}

// TestVariablesAreDocumented: what a program reads from its environment, an owner
// can read about.
func TestVariablesAreDocumented(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	for _, doc := range documents(t) {
		all.WriteString(readDocument(t, doc))
	}
	names := Variables(module(t))
	if len(names) < 20 {
		t.Errorf("only %d variables were found", len(names))
	}
	for _, name := range names {
		if strings.HasPrefix(name, "PDPP_TEST_") {
			t.Errorf("a shipped program knows %s: a switch for tests belongs to a test's own program", name)
		}
		if strings.HasSuffix(name, "_") {
			name += "<"
		} else {
			name += "`"
		}
		if !strings.Contains(all.String(), name) {
			t.Errorf("no document tells of %s", strings.TrimRight(name, "`<"))
		}
	}
}
