package spool

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// A list that is too long for memory keeps its order and its marks, and its file is removed.
func TestSpool(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s := &Spool{}
	padding := strings.Repeat("x", 100<<10)
	for i := range 200 { // 20 MB
		if err := s.Add(i/10, fmt.Appendf(nil, "%d %s", i, padding)); err != nil {
			t.Fatal(err)
		}
	}
	if s.file == nil || len(s.recent) > memory {
		t.Errorf("%d bytes are in memory", len(s.recent))
	}
	for range 2 { // it can be read again
		n := 0
		for entry, err := range s.EachEntry() {
			if err != nil || string(entry.Raw) != fmt.Sprintf("%d %s", n, padding) || entry.Mark != n/10 {
				t.Fatalf("entry %d is %.10s of %d: %v", n, entry.Raw, entry.Mark, err)
			}
			n++
		}
		if n != 200 {
			t.Errorf("%d entries", n)
		}
	}
	s.Remove()
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}
