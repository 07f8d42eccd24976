package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Lines of several files arrive whole, however long they are, and each file's in order.
func TestMerge(t *testing.T) {
	t.Parallel()
	const files, lines = 3, 200
	var names []string
	for f := range files {
		var text strings.Builder
		for l := range lines {
			fmt.Fprintf(&text, "%d %d %s\n", f, l, strings.Repeat(fmt.Sprint(f), 100*l))
		}
		name := filepath.Join(t.TempDir(), "results")
		if err := os.WriteFile(name, []byte(strings.TrimSuffix(text.String(), "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	var merged strings.Builder
	if err := merge(names, func(file int, line []byte) error {
		if !strings.HasPrefix(string(line), fmt.Sprint(file)) {
			t.Errorf("%.10q comes from file %d", line, file)
		}
		_, err := merged.Write(line)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	next := [files]int{}
	for line := range strings.Lines(merged.String()) {
		var f, l int
		if _, err := fmt.Sscanf(line, "%d %d", &f, &l); err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("%d %d %s\n", f, next[f], strings.Repeat(fmt.Sprint(f), 100*l)); line != want {
			t.Fatalf("line %d of file %d is %.40q", next[f], f, line)
		}
		next[f]++
	}
	if next != [files]int{lines, lines, lines} {
		t.Errorf("lines by file: %v", next)
	}
}

// A file that cannot be read is no result.
func TestMergeOfAMissingFile(t *testing.T) {
	t.Parallel()
	if err := merge([]string{filepath.Join(t.TempDir(), "missing")}, nil); err == nil {
		t.Error("no error")
	}
}
