package exportcount

import (
	"encoding/csv"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// However an export is cut into pieces, its records are counted right.
func TestRowsAreCounted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.SliceOfN(rapid.StringMatching(`[a",\n]{0,4}x`), 2, 2), 0, 6).Draw(t, "rows")
		var text strings.Builder
		w := csv.NewWriter(&text)
		if err := w.WriteAll(append([][]string{{"_stream", "_key"}}, rows...)); err != nil {
			t.Fatal(err)
		}
		c := &ExportCounter{To: io.Discard, Format: "csv"}
		for rest := text.String(); rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			if _, err := c.Write([]byte(rest[:n])); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if c.Records() != int64(len(rows)) {
			t.Fatalf("%d rows, want %d", c.Records(), len(rows))
		}
	})
}
