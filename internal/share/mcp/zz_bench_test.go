package mcp_test

import (
	"fmt"
	"strings"
	"testing"
)

func BenchmarkReadRecords(b *testing.B) {
	w := newWorld(b, inSQLite(b))
	for i := range 300 {
		w.put(note(fmt.Sprint("k", i), strings.Repeat("word ", 60), "hidden"))
	}
	s := w.connect(ownerToken, "2025-11-25")
	for b.Loop() {
		call(b, s, "read_records", map[string]any{"stream": "notes"})
	}
}
