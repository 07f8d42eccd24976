package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// The plot in the documentation shows the governor as it is. This is compared on
// one kind of processor only: others fuse multiplications, which moves the last
// digits.
func TestPlotIsCurrent(t *testing.T) {
	t.Parallel()
	kept, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "understand", "governor.svg"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "governor.svg")
	if err := run([]string{"-o", file}, io.Discard); err != nil {
		t.Fatal(err)
	}
	fresh, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(kept, fresh) {
		t.Fatal("docs/understand/governor.svg is stale; write it with: " +
			"go run ./internal/quality/tools/rateplot -o docs/understand/governor.svg")
	}
}
