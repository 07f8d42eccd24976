package main

import (
	"debug/elf"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/pdpp-go/pdpp/internal/quality/programs"
)

// The build script of the releases builds the programs.
func TestShippedPrograms(t *testing.T) {
	dir := programs.Built()
	if dir == "" {
		dir = t.TempDir()
		build(t, dir)
	}
	t.Run("are static", func(t *testing.T) { areStatic(t, dir) })
	t.Run("run a foreign connector", func(t *testing.T) { runAForeignConnector(t, dir) })
}

func build(t *testing.T, dir string) {
	t.Helper()
	if out, err := exec.Command(filepath.Join("..", "..", "scripts", "build"), dir).CombinedOutput(); err != nil {
		t.Fatalf("scripts/build: %v\n%s", err, out)
	}
}

// areStatic shows that one file is all that an owner needs: no loader and no library of the
// system is asked for.
func areStatic(t *testing.T, dir string) {
	if runtime.GOOS != "linux" {
		return // elsewhere the system's own library is the only way into it
	}
	for _, name := range []string{"pdpp", "pdpp-connectors", "pdpp-local-collector"} {
		f, err := elf.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range f.Progs {
			if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
				t.Errorf("%s has a segment %v: it is loaded with libraries of the system", name, p.Type)
			}
		}
		_ = f.Close()
	}
}
