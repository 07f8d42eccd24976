package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pdpp-go/pdpp/internal/quality/programs"
)

// TestSourceFile adds a source from a file with the real host of connectors, and collects with it from a provider.
func TestSourceFile(t *testing.T) {
	dir := t.TempDir()
	if err := programs.Build(dir, "cmd/pdpp-connectors"); err != nil {
		t.Fatal(err)
	}
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer kiwi-7731" {
			http.Error(w, "{}", http.StatusUnauthorized)
			return
		}
		_, _ = fmt.Fprint(w, `[{"id":"b1","title":"The Reed Bed"},{"id":"b2","title":"Low Water"}]`)
	}))
	t.Cleanup(provider.Close)
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "sourcefile"), Cmds: commands,
		Setup: func(env *testscript.Env) error {
			env.Setenv("PDPP_CONNECTORS_BIN", filepath.Join(dir, "pdpp-connectors"))
			env.Setenv("PDPP_HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("PROVIDER", provider.URL)
			env.Setenv("TZ", "UTC")
			return nil
		},
	})
}
