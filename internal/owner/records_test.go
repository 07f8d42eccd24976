package owner

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"pdpp/internal/ownerapi"
	"pdpp/internal/store"
)

// plant stores records of the beds, and deletes some.
func (b *bed) plant(id string, n int, deleted ...string) {
	b.t.Helper()
	l := b.begin(id, "run_plant_"+id)
	var slice store.Slice
	for i := range n {
		kind := []string{"flower", "herb"}[i%2]
		slice.Records = append(slice.Records, store.Record{Stream: "beds", Key: fmt.Sprintf("k%03d", i),
			Data: fmt.Appendf(nil, `{"id":"k%03d","name":"bed number%d","kind":%q}`, i, i, kind), EmittedAt: "2026-01-02T03:04:05Z"})
	}
	_, err := b.Store.CommitSlice(b.ctx(), l, slice, b.at)
	b.must(err)
	var gone store.Slice
	for _, key := range deleted {
		gone.Records = append(gone.Records, store.Record{Stream: "beds", Key: key, EmittedAt: "2026-01-03T03:04:05Z", Deleted: true})
	}
	_, err = b.Store.CommitSlice(b.ctx(), l, gone, b.at)
	b.must(err)
	b.must(b.Store.FinishRun(b.ctx(), l, store.RunOutcome{Status: store.RunSucceeded, Event: store.Event{Type: "run.completed"}}, b.at))
}

// all reads every page and gives the keys.
func (b *bed) all(q ownerapi.RecordQuery) (keys []string) {
	b.t.Helper()
	for {
		page, err := b.Records(b.ctx(), q)
		b.must(err)
		for _, r := range page.Records {
			keys = append(keys, r.Key)
		}
		if page.Next == "" {
			return keys
		}
		if len(page.Records) == 0 || len(keys) > 1000 {
			b.t.Fatal("the pages do not end")
		}
		q.Cursor = page.Next
	}
}

func TestRecordsAreReadPageByPage(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	id := b.connect("trowel").ID
	b.plant(id, 30, "k005", "k006")
	var live []string
	for i := range 30 {
		if i != 5 && i != 6 {
			live = append(live, fmt.Sprintf("k%03d", i))
		}
	}
	newest := slices.Clone(live)
	slices.Reverse(newest)
	base := ownerapi.RecordQuery{ConnectionID: id, Stream: "beds"}
	for _, limit := range []int{0, 1, 7, 28, 29, 100, 5000} {
		q := base
		q.Limit = limit
		if got := b.all(q); !slices.Equal(got, newest) {
			t.Errorf("pages of %d: %v", limit, got)
		}
		if q.Oldest = true; !slices.Equal(b.all(q), live) {
			t.Errorf("pages of %d, the oldest first: %v", limit, b.all(q))
		}
		q.Changes = true
		if got := b.all(q); !slices.Equal(got, append(slices.Clone(live), "k005", "k006")) {
			t.Errorf("changes in pages of %d: %v", limit, got)
		}
	}
	herbs := base
	herbs.Where, herbs.Limit = map[string]string{"kind": "herb"}, 4
	if got := b.all(herbs); len(got) != 14 {
		t.Errorf("herbs %v", got)
	}
	gone, versions, err := b.Record(b.ctx(), id, "beds", "k005")
	b.must(err)
	if !gone.Deleted || string(gone.Data) != "null" || len(versions) != 1 || !strings.Contains(string(versions[0].Data), "number5") {
		t.Errorf("record %+v, before %+v", gone, versions)
	}
	_, _, err = b.Record(b.ctx(), id, "beds", "none")
	wantError(t, err, ownerapi.CodeNotFound, "")
}

// A cursor serves the list that it was made for and no other, and cannot be changed.
func TestCursorsAreBound(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	id, other := b.connect("trowel").ID, b.connect("trowel").ID
	b.plant(id, 5)
	b.plant(other, 5)
	base := ownerapi.RecordQuery{ConnectionID: id, Stream: "beds", Limit: 2}
	page, err := b.Records(b.ctx(), base)
	b.must(err)
	for name, change := range map[string]func(*ownerapi.RecordQuery){
		"tampered":           func(q *ownerapi.RecordQuery) { q.Cursor = page.Next[:len(page.Next)-2] + "AA" },
		"made up":            func(q *ownerapi.RecordQuery) { q.Cursor = "3" },
		"other connection":   func(q *ownerapi.RecordQuery) { q.ConnectionID = other },
		"other order":        func(q *ownerapi.RecordQuery) { q.Oldest = true },
		"other filter":       func(q *ownerapi.RecordQuery) { q.Where = map[string]string{"kind": "herb"} },
		"changes, not lists": func(q *ownerapi.RecordQuery) { q.Changes = true },
	} {
		q := base
		q.Cursor = page.Next
		change(&q)
		t.Run(name, func(t *testing.T) {
			_, err := b.Records(b.ctx(), q)
			wantCode(t, err, ownerapi.CodeInvalidCursor)
		})
	}
	_, err = b.Search(b.ctx(), ownerapi.SearchQuery{Text: "bed", Cursor: page.Next})
	wantCode(t, err, ownerapi.CodeInvalidCursor)
}

func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	if e, ok := err.(*ownerapi.Error); !ok || e.Code != code || e.Status != 400 || e.Next == "" {
		t.Errorf("error %#v, want %s", err, code)
	}
}

func TestRecordsRefuse(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	id := b.connect("trowel").ID
	if page, err := b.Records(b.ctx(), ownerapi.RecordQuery{ConnectionID: id, Stream: "beds"}); err != nil || page.Records == nil || len(page.Records) != 0 {
		t.Errorf("a stream without records: %+v, %v", page, err)
	}
	_, err := b.Records(b.ctx(), ownerapi.RecordQuery{ConnectionID: id, Stream: "beds", Where: map[string]string{"name": "x"}})
	wantError(t, err, ownerapi.CodeUnknownField, "filter[name]")
	_, err = b.Records(b.ctx(), ownerapi.RecordQuery{ConnectionID: id, Stream: "paths"})
	wantError(t, err, ownerapi.CodeNotFound, "stream")
	_, err = b.Records(b.ctx(), ownerapi.RecordQuery{ConnectionID: "cin_none", Stream: "beds"})
	wantError(t, err, ownerapi.CodeNotFound, "")
	_, err = b.Search(b.ctx(), ownerapi.SearchQuery{Text: "  "})
	wantError(t, err, ownerapi.CodeInvalid, "q")
	wantError(t, b.Export(b.ctx(), io.Discard, ownerapi.ExportQuery{ConnectionID: id, Stream: "beds", Format: "xml"}), ownerapi.CodeInvalid, "format")
	wantError(t, b.Export(b.ctx(), io.Discard, ownerapi.ExportQuery{ConnectionID: id, Stream: "paths", Format: "csv"}), ownerapi.CodeNotFound, "stream")
}

func TestSearchAndStreams(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	id, other := b.connect("trowel").ID, b.connect("trowel").ID
	b.succeed(id)
	b.succeed(other)
	for _, c := range []struct {
		q    ownerapi.SearchQuery
		want int
	}{
		{ownerapi.SearchQuery{Text: "rose"}, 2},
		{ownerapi.SearchQuery{Text: "bed"}, 4},
		{ownerapi.SearchQuery{Text: "bed", ConnectionID: id}, 2},
		{ownerapi.SearchQuery{Text: "bed", Stream: "beds"}, 4},
		{ownerapi.SearchQuery{Text: "bed", Stream: "paths"}, 0},
		{ownerapi.SearchQuery{Text: "flower"}, 0}, // not an indexed field
	} {
		found := 0
		for {
			q := c.q
			q.Limit = 3
			page, err := b.Search(b.ctx(), q)
			b.must(err)
			if found += len(page.Records); page.Next == "" {
				break
			}
			c.q.Cursor = page.Next
		}
		if found != c.want {
			t.Errorf("%+v finds %d, want %d", c.q, found, c.want)
		}
	}
	streams, err := b.Streams(b.ctx(), "")
	b.must(err)
	if len(streams) != 2 || streams[0].Records != 2 || streams[0].Label != "Flower beds" || streams[0].ConnectionName != "Garden" || !slices.Equal(streams[0].Filter, []string{"kind"}) {
		t.Errorf("streams %+v", streams)
	}
	if one, err := b.Streams(b.ctx(), id); err != nil || len(one) != 1 || one[0].ConnectionID != id {
		t.Errorf("streams %+v, %v", one, err)
	}
}

func TestExport(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	id := b.connect("trowel").ID
	b.succeed(id)
	var out bytes.Buffer
	b.must(b.Export(b.ctx(), &out, ownerapi.ExportQuery{ConnectionID: id, Stream: "beds", Format: "jsonl"}))
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	var r ownerapi.Record
	b.must(json.Unmarshal([]byte(lines[0]), &r))
	if len(lines) != 2 || r.Key != "b1" || !strings.Contains(string(r.Data), "Rose bed") || r.EmittedAt.Year() != 2026 {
		t.Errorf("lines %q", lines)
	}
	out.Reset()
	b.must(b.Export(b.ctx(), &out, ownerapi.ExportQuery{ConnectionID: id, Format: "csv"}))
	rows, err := csv.NewReader(&out).ReadAll()
	b.must(err)
	want := [][]string{
		{"_stream", "_key", "id", "name", "kind", "size", "dug_at", "_other"},
		{"beds", "b1", "b1", "Rose bed", "flower", "-3.5", "", `{"details":"","pace":"","wall":""}`},
		{"beds", "'=b2", "'=b2", "'=1+1 Herb bed", "herb", "", "", ""},
	}
	if !slices.EqualFunc(rows, want, func(a, b []string) bool { return slices.Equal(a, b) }) {
		t.Errorf("rows %q", rows)
	}
}

// More records than a page holds are all exported, once.
func TestExportOfManyPages(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	id := b.connect("trowel").ID
	b.plant(id, 2*exportPage+7)
	var out bytes.Buffer
	b.must(b.Export(b.ctx(), &out, ownerapi.ExportQuery{ConnectionID: id, Stream: "beds", Format: "jsonl"}))
	seen := map[string]bool{}
	for line := range strings.Lines(out.String()) {
		var r ownerapi.Record
		b.must(json.Unmarshal([]byte(line), &r))
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
		got := inert(text)
		if got != "" && strings.ContainsRune("=+-@\t\r\n", rune(got[0])) || !strings.HasSuffix(got, text) {
			t.Errorf("%q becomes %q", text, got)
		}
	})
}
