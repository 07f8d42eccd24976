package systemservice

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestLogIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "collector.log")
	line := bytes.Repeat([]byte("x"), 1<<20)
	for range 45 {
		l, err := OpenLog(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Write(line); err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	all, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(all) != keptLogs {
		t.Errorf("%v, %v", all, err)
	}
	for _, e := range all {
		if info, err := e.Info(); err != nil || info.Size() > largestLog {
			t.Errorf("%s: %v", e.Name(), info)
		}
	}
}
