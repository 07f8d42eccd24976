// Package pagetest holds pages against how they read before: whatever a page says, leads
// to or asks for is in a file, and a change of it is seen in that file.
package pagetest

import (
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update-pages", false, "write the pages in testdata anew")

// Pages collects the outlines of pages.
type Pages struct {
	// Without are the ids of parts that are left out from now on.
	Without []string
	all     strings.Builder
}

// Add notes an answer under a name.
func (p *Pages) Add(t *testing.T, name string, answer *httptest.ResponseRecorder) {
	t.Helper()
	text, err := outlineOf(answer.Body.String(), p.Without)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	fmt.Fprintf(&p.all, "== %s, %d\n%s\n", name, answer.Code, text)
}

// Hold compares the pages with the file; -update-pages writes it.
func (p *Pages) Hold(t *testing.T, file string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(p.all.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(p.all.String(), "\n")); diff != "" {
		t.Errorf("the pages read differently (-before +now); if that is meant, run the test with -update-pages:\n%s", diff)
	}
}
