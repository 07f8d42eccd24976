package reading

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

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

// An export by time or by words holds what matches, and nothing else.
func TestExportOfSome(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.Connect()
	d.Collect(id, ownertest.TwoStreamManifest())
	keys := func(q api.ExportQuery) (keys []string) {
		t.Helper()
		q.ConnectionID, q.Stream, q.Format = id, "beds", "jsonl"
		var out bytes.Buffer
		d.Must(d.Export(d.Ctx(), &out, q))
		for line := range strings.Lines(out.String()) {
			var r api.Record
			d.Must(json.Unmarshal([]byte(line), &r))
			keys = append(keys, r.Key)
		}
		return keys
	}
	if got := keys(api.ExportQuery{Text: "rose"}); !slices.Equal(got, []string{"b1"}) {
		t.Errorf("by words %q", got)
	}
	if got := keys(api.ExportQuery{Text: "nothing like it"}); len(got) != 0 {
		t.Errorf("by other words %q", got)
	}
	before := keys(api.ExportQuery{Until: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)})
	if len(before) != 0 {
		t.Errorf("before everything %q", before)
	}
}

// An export has exactly the records of a list with the same filters, and refuses what the list refuses.
func TestExportOfAList(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.Connect()
	d.Collect(id, ownertest.TwoStreamManifest())
	herb := map[string]string{"kind": "herb"}
	small := api.Comparisons{{Field: "size", Operator: "lt"}: "0"}
	for name, tt := range map[string]struct {
		list   api.RecordQuery
		export api.ExportQuery
	}{
		"all":      {api.RecordQuery{}, api.ExportQuery{}},
		"equal":    {api.RecordQuery{Where: herb}, api.ExportQuery{Where: herb}},
		"compared": {api.RecordQuery{Compare: small}, api.ExportQuery{Compare: small}},
		"by time":  {api.RecordQuery{ByTime: true}, api.ExportQuery{ByTime: true}},
		"by a field that is none": {api.RecordQuery{Where: map[string]string{"colour": "red"}},
			api.ExportQuery{Where: map[string]string{"colour": "red"}}},
		"of an author": {api.RecordQuery{ByTime: true, Author: "Ida"}, api.ExportQuery{ByTime: true, Author: "Ida"}},
	} {
		tt.list.ConnectionID, tt.list.Stream, tt.list.Limit = id, "beds", 100
		tt.export.ConnectionID, tt.export.Stream, tt.export.Format = id, "beds", "jsonl"
		listed, refused := d.Records(d.Ctx(), tt.list)
		var want, got []string
		for _, r := range listed.Records {
			want = append(want, r.Key)
		}
		var out bytes.Buffer
		err := d.Export(d.Ctx(), &out, tt.export)
		for _, line := range strings.Fields(out.String()) {
			if _, rest, found := strings.Cut(line, `"id":"`); found {
				key, _, _ := strings.Cut(rest, `"`)
				got = append(got, key)
			}
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) || (err == nil) != (refused == nil) {
			t.Errorf("%s: exported %v, %v; listed %v, %v", name, got, err, want, refused)
		}
	}
}
