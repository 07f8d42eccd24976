package server_test

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/pdpp-go/pdpp/internal/web/server"
)

// TestGeneratedClientsCompile makes clients from the description as the server sends it, with the usual generators of
// Go and TypeScript, and compiles them.
func TestGeneratedClientsCompile(t *testing.T) {
	t.Parallel()
	described := filepath.Join(t.TempDir(), "openapi.json")
	w := httptest.NewRecorder()
	server.OpenAPI().Handle(w, httptest.NewRequest("GET", "/openapi.json", nil))
	if err := os.WriteFile(described, w.Body.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Run("oapi-codegen", func(t *testing.T) {
		t.Parallel()
		folder := t.TempDir()
		client := filepath.Join(folder, "client.go")
		tools, err := filepath.Abs(filepath.Join("..", "..", "quality", "openapi", "generators"))
		if err != nil {
			t.Fatal(err)
		}
		runGenerator(t, tools, "go", "tool", "oapi-codegen", "-generate", "types,client", "-package", "client",
			"-o", client, described)
		// The file is compiled as a package of the module with the generator, which has what it imports.
		overlay, err := json.Marshal(map[string]any{
			"Replace": map[string]string{filepath.Join(tools, "client", "client.go"): client},
		})
		if err != nil {
			t.Fatal(err)
		}
		replaced := filepath.Join(folder, "overlay.json")
		if err := os.WriteFile(replaced, overlay, 0o600); err != nil {
			t.Fatal(err)
		}
		runGenerator(t, tools, "go", "build", "-trimpath", "-overlay", replaced, "./client")
	})
	t.Run("openapi-typescript", func(t *testing.T) {
		t.Parallel()
		modules := os.Getenv("PDPP_TEST_NODE_MODULES")
		if modules == "" {
			t.Fatal("set PDPP_TEST_NODE_MODULES to a node_modules folder with the packages of scripts/lib/node.sh in it, " +
				"as make test does")
		}
		folder := t.TempDir()
		runGenerator(t, folder, "node", filepath.Join(modules, "openapi-typescript", "bin", "cli.js"), described,
			"-o", "client.ts")
		runGenerator(t, folder, "node", filepath.Join(modules, "typescript-native", "lib", "tsc.js"),
			"--noEmit", "--strict", "--target", "es2022", "--pretty", "false", "client.ts")
	})
}

// runGenerator runs a program in a folder. The test fails with its output.
func runGenerator(t *testing.T, folder, program string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = folder
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v\n%s", program, args, err, out)
	}
}
