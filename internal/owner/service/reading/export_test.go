package reading

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/ownertest"
	"github.com/pdpp-go/pdpp/internal/slice"
)

func TestExport(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.Connect()
	d.Collect(id, ownertest.TwoStreamManifest())
	var out bytes.Buffer
	d.Must(d.Export(d.Ctx(), &out, api.ExportQuery{ConnectionID: id, Stream: "beds", Format: "jsonl"}))
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	var r api.Record
	d.Must(json.Unmarshal([]byte(lines[0]), &r))
	if len(lines) != 2 || r.Key != "b1" || !strings.Contains(string(r.Data), "Rose bed") || r.EmittedAt.Year() != 2026 {
		t.Errorf("lines %q", lines)
	}
	out.Reset()
	d.Must(d.Export(d.Ctx(), &out, api.ExportQuery{ConnectionID: id, Format: "csv"}))
	rows, err := csv.NewReader(&out).ReadAll()
	d.Must(err)
	want := [][]string{
		{"_stream", "_key", "id", "name", "kind", "size", "dug_at", "_other"},
		{"beds", "b1", "b1", "Rose bed", "flower", "-3.5", "", `{"soil":"clay","sun":true}`},
		{"beds", "'=b2", "'=b2", "'=1+1 Herb bed", "herb", "", "", ""},
	}
	if !slices.EqualFunc(rows, want, func(a, b []string) bool { return slices.Equal(a, b) }) {
		t.Errorf("rows %q", rows)
	}
}

// An export keeps the content of a record unchanged, including markup characters.
func TestExportKeepsTheSigns(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.Connect()
	d.Collect(id, []slice.Record{{Stream: "beds", Key: "b<1>", Data: []byte(`{"id":"b<1>","name":"Thyme & <sage>"}`),
		EmittedAt: "2026-01-02T03:04:05Z"}})
	var out bytes.Buffer
	d.Must(d.Export(d.Ctx(), &out, api.ExportQuery{ConnectionID: id, Stream: "beds", Format: "jsonl"}))
	if got := out.String(); !strings.Contains(got, `"name":"Thyme & <sage>"`) || !strings.Contains(got, `"b<1>"`) {
		t.Errorf("exported %s", got)
	}
}

// More records than a page holds are all exported, once.
func TestExportOfManyPages(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.Connect()
	d.plant(id, 2*exportPage+7)
	var out bytes.Buffer
	d.Must(d.Export(d.Ctx(), &out, api.ExportQuery{ConnectionID: id, Stream: "beds", Format: "jsonl"}))
	seen := map[string]bool{}
	for line := range strings.Lines(out.String()) {
		var r api.Record
		d.Must(json.Unmarshal([]byte(line), &r))
		seen[r.Key] = true
	}
	if n := strings.Count(out.String(), "\n"); n != 2*exportPage+7 || len(seen) != n {
		t.Errorf("%d lines of %d records", n, len(seen))
	}
}

// No text becomes a formula, and all of it is there.
func FuzzInert(f *testing.F) {
	for _, s := range []string{"", "=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\t=1", "plain", "'quoted"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := escapeFormula(text)
		if got != "" && strings.ContainsRune("=+-@\t\r\n", rune(got[0])) || !strings.HasSuffix(got, text) {
			t.Errorf("%q becomes %q", text, got)
		}
	})
}
