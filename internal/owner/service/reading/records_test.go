package reading

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/blob"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/lookup"
	"github.com/pdpp-go/pdpp/internal/owner/service/ownertest"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/protocol"
)

// desk is the collection over a real database.
type desk struct {
	*ownertest.Workspace
	*Collection
	t *testing.T
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	h := ownertest.NewWorkspace(t)
	return &desk{h, New(h.Store, lookup.New(h.Store, nil), blob.FolderStorage{Dir: t.TempDir()}, h.Now), t}
}

// plant stores records of the beds, and deletes some.
func (d *desk) plant(id string, n int, deleted ...string) {
	d.t.Helper()
	var beds, gone []slice.Record
	for i := range n {
		kind := []string{"flower", "herb"}[i%2]
		beds = append(beds, slice.Record{Stream: "beds", Key: fmt.Sprintf("k%03d", i),
			Data:      fmt.Appendf(nil, `{"id":"k%03d","name":"bed number%d","kind":%q}`, i, i, kind),
			EmittedAt: "2026-01-02T03:04:05Z"})
	}
	for _, key := range deleted {
		gone = append(gone, slice.Record{Stream: "beds", Key: key, EmittedAt: "2026-01-03T03:04:05Z", Op: protocol.OpDelete})
	}
	d.Collect(id, beds, gone)
}

// all reads every page and returns the keys.
func (d *desk) all(q api.RecordQuery) (keys []string) {
	d.t.Helper()
	for {
		page, err := d.Records(d.Ctx(), q)
		d.Must(err)
		for _, r := range page.Records {
			keys = append(keys, r.Key)
		}
		if page.Next == "" {
			return keys
		}
		if len(page.Records) == 0 || len(keys) > 1000 {
			d.t.Fatal("the pages do not end")
		}
		q.Cursor = page.Next
	}
}

func TestRecordsAreReadPageByPage(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.Connect()
	d.plant(id, 30, "k005", "k006")
	var live []string
	for i := range 30 {
		if i != 5 && i != 6 {
			live = append(live, fmt.Sprintf("k%03d", i))
		}
	}
	newest := slices.Clone(live)
	slices.Reverse(newest)
	base := api.RecordQuery{ConnectionID: id, Stream: "beds"}
	for _, limit := range []int{0, 1, 7, 28, 29, 100, 5000} {
		q := base
		q.Limit = limit
		if got := d.all(q); !slices.Equal(got, newest) {
			t.Errorf("pages of %d: %v", limit, got)
		}
		if q.Oldest = true; !slices.Equal(d.all(q), live) {
			t.Errorf("pages of %d, the oldest first: %v", limit, d.all(q))
		}
		q.Changes = true
		if got := d.all(q); !slices.Equal(got, append(slices.Clone(live), "k005", "k006")) {
			t.Errorf("changes in pages of %d: %v", limit, got)
		}
	}
	herbs := base
	herbs.Where, herbs.Limit = map[string]string{"kind": "herb"}, 4
	if got := d.all(herbs); len(got) != 14 {
		t.Errorf("herbs %v", got)
	}
	some := base
	some.Keys, some.Limit = []string{"k009", "k005", "none", "k003", "k011"}, 2
	if got := d.all(some); !slices.Equal(got, []string{"k011", "k009", "k003"}) {
		t.Errorf("by their keys %v", got)
	}
	if some.Keys = []string{}; len(d.all(some)) != 0 {
		t.Errorf("by no key %v", d.all(some))
	}
	gone, versions, err := d.Record(d.Ctx(), id, "beds", "k005")
	d.Must(err)
	if !gone.Deleted || string(gone.Data) != "null" || len(versions) != 1 ||
		!strings.Contains(string(versions[0].Data), "number5") {
		t.Errorf("record %+v, before %+v", gone, versions)
	}
	_, _, err = d.Record(d.Ctx(), id, "beds", "none")
	ownertest.WantError(t, err, api.CodeNotFound, "")
}

// A cursor serves the list that it was made for and no other, and cannot be changed.
func TestCursorsAreBound(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id, other := d.Connect(), d.Connect()
	d.plant(id, 5)
	d.plant(other, 5)
	base := api.RecordQuery{ConnectionID: id, Stream: "beds", Limit: 2}
	page, err := d.Records(d.Ctx(), base)
	d.Must(err)
	changed := map[bool]string{true: "B", false: "A"}[page.Next[0] == 'A']
	for name, change := range map[string]func(*api.RecordQuery){
		"tampered":           func(q *api.RecordQuery) { q.Cursor = changed + page.Next[1:] },
		"made up":            func(q *api.RecordQuery) { q.Cursor = "3" },
		"other connection":   func(q *api.RecordQuery) { q.ConnectionID = other },
		"other order":        func(q *api.RecordQuery) { q.Oldest = true },
		"other keys":         func(q *api.RecordQuery) { q.Keys = []string{"k001"} },
		"other filter":       func(q *api.RecordQuery) { q.Where = map[string]string{"kind": "herb"} },
		"changes, not lists": func(q *api.RecordQuery) { q.Changes = true },
	} {
		q := base
		q.Cursor = page.Next
		change(&q)
		t.Run(name, func(t *testing.T) {
			_, err := d.Records(d.Ctx(), q)
			wantCode(t, err, api.CodeInvalidCursor)
		})
	}
	_, err = d.Search(d.Ctx(), api.SearchQuery{Text: "bed", Cursor: page.Next})
	wantCode(t, err, api.CodeInvalidCursor)
}

func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	if e, ok := err.(*api.Error); !ok || e.Code != code || e.Status != 400 || e.Next == "" {
		t.Errorf("error %#v, want %s", err, code)
	}
}

func TestRecordsRefuse(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.Connect()
	if page, err := d.Records(d.Ctx(), api.RecordQuery{ConnectionID: id, Stream: "beds"}); err != nil ||
		page.Records == nil || len(page.Records) != 0 {
		t.Errorf("a stream without records: %+v, %v", page, err)
	}
	_, err := d.Records(d.Ctx(), api.RecordQuery{ConnectionID: id, Stream: "beds", Where: map[string]string{"name": "x"}})
	ownertest.WantError(t, err, api.CodeUnknownField, "filter[name]")
	_, err = d.Records(d.Ctx(), api.RecordQuery{ConnectionID: id, Stream: "beds", Keys: make([]string, 101)})
	ownertest.WantError(t, err, api.CodeInvalid, "keys")
	_, err = d.Records(d.Ctx(), api.RecordQuery{ConnectionID: id, Stream: "paths"})
	ownertest.WantError(t, err, api.CodeNotFound, "stream")
	_, err = d.Records(d.Ctx(), api.RecordQuery{ConnectionID: "cin_none", Stream: "beds"})
	ownertest.WantError(t, err, api.CodeNotFound, "")
	_, err = d.Search(d.Ctx(), api.SearchQuery{Text: "  "})
	ownertest.WantError(t, err, api.CodeInvalid, "q")
	ownertest.WantError(t, d.Export(d.Ctx(), io.Discard, api.ExportQuery{ConnectionID: id, Stream: "beds", Format: "xml"}),
		api.CodeInvalid, "format")
	ownertest.WantError(t, d.Export(d.Ctx(), io.Discard,
		api.ExportQuery{ConnectionID: id, Stream: "paths", Format: "csv"}), api.CodeNotFound, "stream")
}

func TestSearchAndStreams(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id, other := d.Connect(), d.Connect()
	d.Collect(id, ownertest.TwoStreamManifest())
	d.Collect(other, ownertest.TwoStreamManifest())
	for _, c := range []struct {
		q    api.SearchQuery
		want int
	}{
		{api.SearchQuery{Text: "rose"}, 2},
		{api.SearchQuery{Text: "bed"}, 4},
		{api.SearchQuery{Text: "bed", ConnectionID: id}, 2},
		{api.SearchQuery{Text: "bed", Stream: "beds"}, 4},
		{api.SearchQuery{Text: "bed", Stream: "paths"}, 0},
		{api.SearchQuery{Text: "flower"}, 0}, // not an indexed field
	} {
		found := 0
		for {
			q := c.q
			q.Limit = 3
			page, err := d.Search(d.Ctx(), q)
			d.Must(err)
			if found += len(page.Records); page.Next == "" {
				break
			}
			c.q.Cursor = page.Next
		}
		if found != c.want {
			t.Errorf("%+v finds %d, want %d", c.q, found, c.want)
		}
	}
	streams, err := d.Streams(d.Ctx(), "")
	d.Must(err)
	if len(streams) != 2 || streams[0].Records != 2 || streams[0].Label != "Flower beds" ||
		streams[0].ConnectionName != "Garden" || !slices.Equal(streams[0].Filter, []string{"kind"}) {
		t.Errorf("streams %+v", streams)
	}
	if one, err := d.Streams(d.Ctx(), id); err != nil || len(one) != 1 || one[0].ConnectionID != id {
		t.Errorf("streams %+v, %v", one, err)
	}
}
