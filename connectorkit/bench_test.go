package connectorkit

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

// BenchmarkRecords measures what the kit costs per record of about 550 bytes:
// encoding, validation, scope and output.
func BenchmarkRecords(b *testing.B) {
	var list []Record
	for i := range 200 {
		list = append(
			list,
			Upsert(row{ID: fmt.Sprintf("evt_%08d", i), At: "2024-05-01T12:00:00Z", Text: strings.Repeat("some text ", 48)}),
		)
	}
	left := b.N
	c := collecting(b, PagedStream{Stream: "log", Page: func(context.Context, Cursor) (Page, error) {
		n := min(left, len(list))
		left -= n
		return Page{Records: list[:n], Next: Cursor{"left": fmt.Sprint(left)}, More: left > 0}, nil
	}})
	stdin, w := io.Pipe()
	defer w.Close()
	b.ReportAllocs()
	b.ResetTimer()
	if exit := Run(b.Context(), c, Process{
		Stdin: io.MultiReader(strings.NewReader(startLine), stdin), Stdout: io.Discard, Stderr: io.Discard,
		Env: func(string) string { return "" }, Now: time.Now,
	}); exit != 0 {
		b.Fatalf("exit code %d", exit)
	}
}
