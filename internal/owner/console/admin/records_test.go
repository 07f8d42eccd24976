package admin

import (
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

func TestRecordsAreListedByStream(t *testing.T) {
	t.Parallel()
	o := mara()
	o.records = api.RecordPage{Next: "c/2+x", Records: []api.Record{
		letter("a1", `{"title":"A harbor at night","shelf":"north"}`, 3), letter("gone", ``, 2),
	}}
	h := world(t, o)
	p := get(t, h, "/search?connection=cin_kelp_1&stream=letters&order=oldest&f.shelf=north&cursor=c1")
	if q := o.query; q.ConnectionID != "cin_kelp_1" || q.Stream != "letters" || q.Cursor != "c1" || !q.Oldest ||
		len(q.Where) != 1 || q.Where["shelf"] != "north" {
		t.Errorf("asked for %+v", q)
	}
	p.says(t, "1,918 things from 2 sources.", "Filtered by Shelf “north”.",
		"A harbor at night north")
	if class := attr(p.by(t, "data-key", "gone"), "class"); class != "pick gone" {
		t.Errorf("a removed record has the class %q", class)
	}
	next, err := url.Parse(attr(p.by(t, "rel", "next"), "href"))
	if err != nil {
		t.Fatal(err)
	}
	get(t, h, next.String())
	if q := o.query; q.Cursor != "c/2+x" || !q.Oldest || q.Where["shelf"] != "north" {
		t.Errorf("the next page asked for %+v", q)
	}
}

func TestRecordsAreComparedAndCounted(t *testing.T) {
	t.Parallel()
	o := mara()
	o.records = api.RecordPage{Records: []api.Record{letter("a1", `{"title":"A harbor at night","shelf":"north"}`, 3)}}
	north := "north"
	o.aggregation = api.Aggregation{Groups: []api.Group{{Key: &north, Value: []byte(`1906`)}, {Value: []byte(`3`)}}}
	h := world(t, o)
	p := get(t, h, "/search?connection=cin_kelp_1&stream=letters&gte.pages=2.5&lt.written_at=2026-03-01T10:00:00Z&"+
		"count=value.shelf")
	want := api.Comparisons{{Field: "pages", Operator: "gte"}: "2.5",
		{Field: "written_at", Operator: "lt"}: "2026-03-01T10:00:00Z"}
	if q := o.query; !maps.Equal(q.Compare, want) || q.Changes {
		t.Errorf("asked for %+v", q)
	}
	if len(o.summed) != 1 || !maps.Equal(o.summed[0].Compare, want) || o.summed[0].GroupBy != "shelf" ||
		o.summed[0].Granularity != "" {
		t.Errorf("counted %+v", o.summed)
	}
	p.says(t, "Filtered by Pages from “2.5” and Written at before “2026-03-01T10:00:00Z”.", "Records by Shelf",
		"north 1,906", "Without a value 3")
	if in := p.by(t, "name", "gte.pages"); attr(in, "value") != "2.5" || attr(in, "type") != "number" {
		t.Errorf("the form shows %+v", in.Attr)
	}
	if in := p.by(t, "name", "lt.written_at"); attr(in, "type") != "text" { // a date could not show it
		t.Errorf("the form shows %+v", in.Attr)
	}
	p.by(t, "href", "/search?connection=cin_kelp_1&f.shelf=north&gte.pages=2.5&"+
		"lt.written_at=2026-03-01T10%3A00%3A00Z&stream=letters")
	get(t, h, "/search?connection=cin_kelp_1&stream=letters&count=month.written_at")
	if q := o.summed[1]; q.GroupBy != "written_at" || q.Granularity != "month" {
		t.Errorf("counted %+v", q)
	}
	get(t, h, "/search?connection=cin_kelp_1&stream=letters&count=value.title")
	if len(o.summed) != 2 {
		t.Errorf("counted by what is not declared: %+v", o.summed[2:])
	}
}

// By meaning is offered only while it is on. The way stays while the search is narrowed down and saved.
func TestRecordsAreSearchedByMeaning(t *testing.T) {
	t.Parallel()
	o := full("Ines")
	h := world(t, o)
	if strings.Contains(get(t, h, "/search?q=harbor").Body.String(), "by=both") {
		t.Error("a search by meaning is offered while it is off")
	}
	o.semantic.On = true
	if !strings.Contains(get(t, h, "/search?q=harbor").Body.String(), "/search?by=both&amp;q=harbor") {
		t.Error("a search by meaning is not offered")
	}
	p := get(t, h, "/search?q=harbor&by=both")
	if o.search.By != "both" || o.search.Text != "harbor" {
		t.Errorf("searched %+v", o.search)
	}
	p.says(t, "the best of each kind first")
	if got := attr(p.by(t, "name", "address"), "value"); got != "/search?by=both&q=harbor" {
		t.Errorf("the form saves %s", got)
	}
	get(t, h, "/search?q=harbor&by=other")
	if o.search.By != "" {
		t.Errorf("searched %+v", o.search)
	}
}

func TestRecordsAreSearched(t *testing.T) {
	t.Parallel()
	o := mara()
	o.records = api.RecordPage{Records: []api.Record{letter("a1", `{"title":"A harbor"}`, 3)}}
	h := world(t, o)
	p := get(t, h, "/search?q=harbor")
	if o.search != (api.SearchQuery{Text: "harbor", Limit: 100}) {
		t.Errorf("searched for %+v", o.search)
	}
	p.says(t, "“harbor”", "A harbor", "Kelp, maralind")

	o.records = api.RecordPage{}
	p = get(t, h, "/search?q=outbox&connection=cin_kelp_1&stream=letters")
	if o.search.Stream != "letters" || o.search.ConnectionID != "cin_kelp_1" {
		t.Errorf("searched for %+v", o.search)
	}
	p.says(t, "No records match “outbox” in Letters.", "Clear search")

	o.kept = api.Kept{Sources: []api.KeptSource{
		{ConnectionID: "cin_kelp_1", Name: "Kelp, maralind", Say: "Nothing since 3 March 2026"},
		{ConnectionID: "cin_owl", Name: "Owl", Complete: true, Say: "Complete"},
		{ConnectionID: "cin_moss", Name: "<b>Moss", Say: "At least 4 of 9 missing"},
	}}
	p = get(t, h, "/search?q=outbox")
	p.says(t, "A match may exist that is not here yet: Kelp, maralind (Nothing since 3 March 2026); <b>Moss (At least 4 "+
		"of 9 missing).")
	p = get(t, h, "/search?q=outbox&connection=cin_owl&stream=letters")
	if strings.Contains(p.Body.String(), "A match may exist") {
		t.Error("a complete source is named as incomplete")
	}

	o.fails["Search"] = &api.Error{Status: http.StatusBadRequest, Code: api.CodeInvalidCursor,
		Message: "This page is not there any more.", Next: "Begin with the first."}
	p = get(t, h, "/search?q=x&cursor=forged")
	if p.Code != http.StatusBadRequest {
		t.Errorf("a forged cursor answered %d", p.Code)
	}
	p.says(t, "This page is not there any more. Begin with the first.", "Start again")
}

func TestARecordOpensBesideItsList(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"a1", "..", "a/b?c#d", "", "~", "%2F", `"><b>`} {
		o := mara()
		o.records = api.RecordPage{Records: []api.Record{letter(key, `{"title":"Two boats"}`, 2)}}
		o.record = letter(key, `{"title":"Two boats","page":"https://harbor.example/2","link":"javascript:alert(1)"}`, 2)
		o.earlier = []api.Record{letter(key,
			`{"title":"One boat","page":"https://harbor.example/2","link":"javascript:alert(1)"}`, 1)}
		h := world(t, o)
		list := get(t, h, "/search?connection=cin_kelp_1&stream=letters&order=oldest")
		row := list.by(t, "data-key", key)
		var link string
		for n := range row.Descendants() {
			if n.Data == "a" {
				link = attr(n, "href")
			}
		}
		p := get(t, h, link)
		if p.Code != http.StatusOK || o.opened != [3]string{"cin_kelp_1", "letters", key} {
			t.Errorf("key %q: %s answered %d and opened %q", key, link, p.Code, o.opened)
			continue
		}
		if !o.query.Oldest || o.query.Stream != "letters" {
			t.Errorf("key %q: the list beside it is %+v", key, o.query)
		}
		drawer := textOf(p.by(t, "id", "record"))
		for _, words := range []string{"Two boats", "Title changed", `title: "One boat"`, `title: "Two boats"`,
			"First collected"} {
			if !strings.Contains(drawer, words) {
				t.Errorf("the drawer does not say %q: %s", words, drawer)
			}
		}
		harmless(t, link, p)
		if attr(p.by(t, "href", "https://harbor.example/2"), "rel") != "noopener noreferrer nofollow" {
			t.Error("a link of a record tells where it was followed from")
		}
	}
}

func TestARemovedRecordShowsItsLastCopy(t *testing.T) {
	t.Parallel()
	o := mara()
	o.record = letter("a1", ``, 3)
	o.earlier = []api.Record{letter("a1", `{"title":"The last copy"}`, 2)}
	p := get(t, world(t, o), "/thing/cin_kelp_1/letters/a1")
	p.says(t, "Removed at the source. This is the last copy.", "The last copy")
}

func TestAStreamWithoutRecordsIsStillAStream(t *testing.T) {
	t.Parallel()
	o := mara()
	o.streams = o.streams[2:]
	get(t, world(t, o), "/search?connection=cin_kelp_1&stream=stars").says(t, "Stars , Kelp, maralind",
		"This stream has no records yet.")
}

func TestStreamsThatAreNotThere(t *testing.T) {
	t.Parallel()
	h := world(t, mara())
	for _, address := range []string{"/search?connection=cin_kelp_1&stream=nothing", "/search?stream=letters",
		"/thing/cin_kelp_1/~%21/a"} {
		if p := get(t, h, address); p.Code != http.StatusNotFound {
			t.Errorf("%s answered %d", address, p.Code)
		}
	}
}

const (
	exportedLetter = `{"connection_id":"cin_kelp_1","stream":"letters","id":"a1","data":{"title":"Ines"},` +
		`"emitted_at":"2026-03-01T00:00:00Z","changed_at":"2026-03-01T00:00:00Z","version":1,"deleted":false}` + "\n"
	hostileStream = "../a\r\nb;\""
)

// exportPage returns the address of the export of a stream.
func exportPage(stream, format string) string {
	return "/search/export?" + url.Values{"format": {format},
		"part": {api.ExportQuery{ConnectionID: "cin_kelp_1", Stream: stream}.Encode()}}.Encode()
}

func TestExportIsAFile(t *testing.T) {
	t.Parallel()
	o := mara()
	o.exported = exportedLetter
	o.streams = append(o.streams, api.Stream{ConnectionID: "cin_kelp_1", Name: hostileStream})
	h := world(t, o)
	p := get(t, h, exportPage("letters", "jsonl"))
	if p.Body.String() != o.exported || p.Header().Get("Content-Type") != "application/x-ndjson" {
		t.Errorf("got %q as %s", p.Body, p.Header().Get("Content-Type"))
	}
	if got := p.Header().Get("Content-Disposition"); got != "attachment; filename=letters-2026-03-12.jsonl" {
		t.Errorf("it is called %q", got)
	}
	p = get(t, h, exportPage(hostileStream, "csv"))
	if got := p.Header().Get("Content-Disposition"); got != "attachment; filename=_a__b__-2026-03-12.csv" {
		t.Errorf("a hostile name became %q", got)
	}
	if p := get(t, h, exportPage("letters", "exe")); p.Code != http.StatusBadRequest {
		t.Errorf("an unknown format answered %d", p.Code)
	}
	p = get(t, h, exportPage("letters", "vcard"))
	if p.Code != http.StatusBadRequest {
		t.Errorf("a format without a place for letters answered %d", p.Code)
	}
	p = get(t, h, exportPage("letters", "sqlite"))
	if got := p.Header().Get("Content-Disposition"); !strings.HasPrefix(p.Body.String(), "SQLite format 3\x00") ||
		got != "attachment; filename=letters-2026-03-12.sqlite" {
		t.Errorf("got %.20q as %q", p.Body, got)
	}

	o.exported = ""
	o.fails["Export"] = api.NotFound("There is no such stream.", "Choose one.")
	p = get(t, h, exportPage("letters", "csv"))
	if p.Code != http.StatusNotFound || p.Header().Get("Content-Disposition") != "" {
		t.Errorf("what is not there answered %d as %q", p.Code, p.Header().Get("Content-Disposition"))
	}
	p.says(t, "There is no such stream.")
}

// A file that ends early must not look whole.
func TestAnExportThatFailsIsCutOff(t *testing.T) {
	t.Parallel()
	o := mara()
	o.exported = strings.Repeat(exportedLetter, 1<<10)
	o.fails["Export"] = errors.New("disk")
	s := httptest.NewServer(world(t, o))
	defer s.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
		s.URL+exportPage("letters", "csv"), nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := s.Client().Do(r)
	if err == nil {
		defer answer.Body.Close()
		if _, err := io.Copy(io.Discard, answer.Body); err == nil {
			t.Error("the browser takes half a file for a whole one")
		}
	}
}
