//pdpp:tier programs

package outsidetest

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// TestOutsideModules builds and runs what people outside this repository write.
func TestOutsideModules(t *testing.T) {
	o := newOutside(t)
	t.Run("round tripper", o.roundTripper)
	t.Run("connector", o.connector)
}

// roundTripper runs a program that uses governhttp.Client as the transport of an http.Client. Its first request is
// refused, which the program does not notice.
func (o *outside) roundTripper(t *testing.T) {
	dir := o.module(t, "roundtripper")
	var asked atomic.Int64
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) == 1 {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		_, _ = w.Write([]byte("hello"))
	}))
	defer service.Close()
	if out := o.run(t, dir, "go", "run", ".", service.URL); out != strings.Repeat("200 hello\n", 3) || asked.Load() != 4 {
		t.Errorf("after %d requests it prints %q", asked.Load(), out)
	}
	o.requires(t, dir, modulePath+"/governor")
}

// connector builds a connector, and runs the conformance checks and the suite on it from other modules.
func (o *outside) connector(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "fernpost")
	if err := os.Rename(o.module(t, "connector"), dir); err != nil {
		t.Fatal(err)
	}
	o.run(t, dir, "go", "build", "-ldflags=-s -w", "-o", "connector", ".")
	o.requires(t, dir, modulePath, modulePath+"/governor",
		"github.com/go-json-experiment/json", "github.com/santhosh-tekuri/jsonschema/v6", "golang.org/x/text")
	if text, err := os.ReadFile(filepath.Join(dir, "main.go")); err != nil || strings.Count(string(text), "\n") > 60 {
		t.Errorf("a connector has %d lines, %v", strings.Count(string(text), "\n"), err)
	}

	with := outside{env: append(slices.Clone(o.env), "FERNPOST="+dir)}
	tests := []string{"go", "test", "-vet=off", "-ldflags=-s -w", "-count=1", "-v", "."}
	suite := o.module(t, "suite")
	if out := with.run(t, suite, tests...); !strings.Contains(out, "--- PASS: TestSuite/crash_and_resume ") {
		t.Errorf("the suite did not run:\n%s", out)
	}
	check := o.module(t, "conformance")
	if out := with.run(t, check, tests...); !strings.Contains(out, "--- PASS: TestConformance") ||
		!strings.Contains(out, "fernpost 1.0.0: ") {
		t.Errorf("the checks did not run:\n%s", out)
	}
	o.requires(t, check, modulePath, "github.com/go-json-experiment/json", "github.com/santhosh-tekuri/jsonschema/v6",
		"golang.org/x/text", "golang.org/x/sys")
}

// modulePath is the path of the repository's main module.
const modulePath = "github.com/pdpp-go/pdpp"

// requires fails the test if go.sum of a tidy module names other modules than these: go downloads no others, to build
// the module or to know its requirements.
func (o *outside) requires(t *testing.T, dir string, want ...string) {
	t.Helper()
	sums, err := os.ReadFile(filepath.Join(dir, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(sums)) {
		if module, _, _ := strings.Cut(line, " "); !slices.Contains(got, module) {
			got = append(got, module)
		}
	}
	// The tests of the schema library import regexp2; go mod tidy lists it if the local cache has it.
	got = slices.DeleteFunc(got, func(module string) bool { return module == "github.com/dlclark/regexp2" })
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("go.sum names %q, want %q", got, want)
	}
}
