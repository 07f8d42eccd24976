package people

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
	"github.com/pdpp-go/pdpp/internal/owner/person"
	"github.com/pdpp-go/pdpp/internal/quality/pagetest"
)

var noon = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

// owner knows one person, and keeps what it was asked to do.
type owner struct {
	api.Owner
	list  person.List
	query person.PeopleQuery
	asked []string
	fail  error
}

func (o *owner) People(_ context.Context, q person.PeopleQuery) (person.List, error) {
	o.query = q
	return o.list, o.fail
}

func (o *owner) Person(_ context.Context, id string) (person.Person, error) {
	if id != "per_ida" {
		return person.Person{}, api.NotFound("There is no such person.", "Choose one from the list of people.")
	}
	first, last := noon.AddDate(0, -2, 0), noon.AddDate(0, 0, -1)
	return person.Person{
		ListedPerson: person.ListedPerson{ID: "per_ida", Name: "Ida <b>Lund</b>", Kind: "person", Records: 1200,
			First: &first,
			Last:  &last, Sources: []string{"Ferry chat", "Lantern mail"}},
		Identities: []person.Identity{
			{ID: "per_ida", Name: "Ida <b>Lund</b>", ConnectionID: "cin_ferry", ConnectionName: "Ferry chat", Records: 1100,
				Joined: "owner", Traces: []person.Trace{{Stream: "messages", Author: "Ida", Records: 1100, Last: &last}}},
			{ID: "per_two", Name: "Ida", Address: "ida@boats.example", ConnectionID: "cin_lantern",
				ConnectionName: "Lantern mail", Records: 100, Joined: "address"}},
		Months:  []person.Month{{Month: "2026-01", Records: 900}, {Month: "2026-03", Records: 300}},
		Similar: []person.ListedPerson{{ID: "per_other", Name: "Ida", Sources: []string{"Quay"}, Records: 3}},
	}, nil
}

func (o *owner) Streams(context.Context, string) ([]api.Stream, error) {
	return []api.Stream{{ConnectionID: "cin_ferry", ConnectionName: "Ferry chat", Name: "messages", Records: 2,
		Display: api.Display{Kind: "message", Roles: map[string]string{"text": "text", "time": "at", "author": "by"}}}}, nil
}

func (o *owner) Records(_ context.Context, q api.RecordQuery) (api.RecordPage, error) {
	at := noon.AddDate(0, 0, -1)
	return api.RecordPage{Records: []api.Record{{ConnectionID: q.ConnectionID, Stream: q.Stream, Key: "m1", At: &at,
		Data: []byte(`{"text":"They did, on Monday. <script>","by":"` + q.Author + `"}`)}}}, nil
}

func (o *owner) did(what string) error { o.asked = append(o.asked, what); return o.fail }

func (o *owner) JoinPeople(_ context.Context, id, other string) error {
	return o.did("join " + id + " " + other)
}
func (o *owner) SplitPerson(_ context.Context, id, one string) error {
	return o.did("split " + id + " " + one)
}
func (o *owner) SetPersonMine(_ context.Context, id string, mine bool) error {
	if mine {
		return o.did("mine " + id)
	}
	return o.did("not mine " + id)
}
func (o *owner) Runtime(context.Context) (api.Runtime, error) { return api.Runtime{}, nil }

func serve(o *owner, method, address string, form url.Values) *httptest.ResponseRecorder {
	mux := http.NewServeMux()
	ui.Mount(mux, Routes(Config{Owner: o, Now: func() time.Time { return noon }, Log: slog.New(slog.DiscardHandler)}),
		func(r ui.Route) http.Handler { return r.Handler })
	r := httptest.NewRequest(method, address, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, r)
	return w
}

func TestPages(t *testing.T) {
	t.Parallel()
	last := noon.AddDate(0, 0, -1)
	full := person.List{Total: 60, Counts: person.KindCounts{Person: 60, Automatic: 2}, People: []person.ListedPerson{
		{ID: "per_ida", Name: "Ida <b>Lund</b>", Records: 1200, Last: &last, Sources: []string{"Ferry chat"}},
		{ID: "per_b", Name: "Без имени", Records: 1, Sources: []string{"Quay"}}}}
	pages := pagetest.Pages{Folder: "pages"}
	for name, p := range map[string]struct {
		list    person.List
		address string
		status  int
	}{
		"none":    {person.List{}, "/people", http.StatusOK},
		"list":    {full, "/people?q=id&kind=automatic&order=name", http.StatusOK},
		"joining": {full, "/people?q=ida&join=per_ida", http.StatusOK},
		"nothing": {person.List{Counts: person.KindCounts{Person: 3}}, "/people?q=zz&skip=50", http.StatusOK},
		"person":  {full, "/people/per_ida", http.StatusOK},
		"unknown": {full, "/people/per_none", http.StatusNotFound},
	} {
		w := serve(&owner{list: p.list}, http.MethodGet, p.address, nil)
		if w.Code != p.status {
			t.Errorf("%s answers %d", name, w.Code)
		}
		if strings.Contains(w.Body.String(), "<b>Lund") || strings.Contains(w.Body.String(), "<script>") {
			t.Errorf("%s has the markup of a stranger", name)
		}
		pages.Add(t, name, w)
	}
	pages.Check(t)
}

func TestListIsAskedForAsTheAddressSays(t *testing.T) {
	t.Parallel()
	o := &owner{}
	serve(o, http.MethodGet, "/people?q=+ida+&kind=mine&order=recent&skip=50", nil)
	want := person.PeopleQuery{Search: "ida", Kind: "mine", Order: "recent", Skip: 50, Limit: onePage}
	if o.query != want {
		t.Errorf("asked for %+v, want %+v", o.query, want)
	}
	serve(o, http.MethodGet, "/people?kind=wrong&order=wrong&skip=-4", nil)
	if want := (person.PeopleQuery{Limit: onePage}); o.query != want {
		t.Errorf("asked for %+v, want %+v", o.query, want)
	}
}

func TestDecisions(t *testing.T) {
	t.Parallel()
	o := &owner{}
	for _, one := range []struct{ address, field, value string }{
		{"/people/per_ida/join", "other", "per_b"}, {"/people/per_ida/split", "identity", "per_two"},
		{"/people/per_ida/mine", "mine", "yes"}, {"/people/per_ida/mine", "mine", "no"},
	} {
		if w := serve(o, http.MethodPost, one.address, url.Values{one.field: {one.value}}); w.Code != http.StatusSeeOther ||
			w.Header().Get("Location") != "/people/per_ida" {
			t.Errorf("%s answers %d to %s", one.address, w.Code, w.Header().Get("Location"))
		}
	}
	want := []string{"join per_ida per_b", "split per_ida per_two", "mine per_ida", "not mine per_ida"}
	if !slices.Equal(o.asked, want) {
		t.Errorf("asked for %q, want %q", o.asked, want)
	}
	o.fail = api.Invalid("other", "They are one person already.", "Choose another person.")
	if w := serve(o, http.MethodPost, "/people/per_ida/join", url.Values{"other": {"per_b"}}); w.Code !=
		http.StatusBadRequest || !strings.Contains(w.Body.String(), "one person already") {
		t.Errorf("a refusal answers %d", w.Code)
	}
}
