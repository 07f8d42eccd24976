package filelock_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/pdpp-go/pdpp/internal/ops/filelock"
)

// TestTryLock takes a lock from two open files, as two processes would.
func TestTryLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	if err := os.WriteFile(path, []byte("holder"), 0o600); err != nil {
		t.Fatal(err)
	}
	open := func() *os.File {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	expect := func(f *os.File, want bool) {
		t.Helper()
		if got, err := filelock.TryLock(f); got != want || err != nil {
			t.Fatalf("TryLock = %v, %v; want %v", got, err, want)
		}
	}
	first, second := open(), open()
	expect(first, true)
	expect(second, false)
	if content, err := io.ReadAll(second); string(content) != "holder" || err != nil {
		t.Errorf("a locked file reads as %q, %v", content, err)
	}
	if err := filelock.Unlock(first); err != nil {
		t.Fatal(err)
	}
	expect(second, true)
	if err := second.Close(); err != nil { // the end of a process closes its files
		t.Fatal(err)
	}
	expect(first, true)
	if _, err := filelock.TryLock(second); err == nil {
		t.Error("a closed file was locked")
	}
}
