package semantic

import (
	"context"
	"errors"
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
	"github.com/pdpp-go/pdpp/internal/owner/semantic"
	"github.com/pdpp-go/pdpp/internal/quality/pagetest"
)

var noon = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

// owner keeps what it was asked to do.
type owner struct {
	api.Owner
	search semantic.Search
	asked  []string
	fail   error
}

func (o *owner) Runtime(context.Context) (api.Runtime, error)             { return api.Runtime{}, nil }
func (o *owner) SavedSearches(context.Context) ([]api.SavedSearch, error) { return nil, nil }
func (o *owner) SemanticSearch(context.Context) (semantic.Search, error)  { return o.search, nil }
func (o *owner) SetSemanticSearch(_ context.Context, e semantic.Endpoint) (semantic.Search, error) {
	o.asked = append(o.asked, strings.Join([]string{e.Kind, e.Address, e.Model, e.Secret}, " "))
	return o.search, o.fail
}

func (o *owner) EndSemanticSearch(context.Context) error {
	o.asked = append(o.asked, "off")
	return o.fail
}

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

var typed = url.Values{"kind": {"openai"}, "address": {" https://vectors.example "}, "model": {"small"},
	"secret": {"sesame"}}

func TestPages(t *testing.T) {
	t.Parallel()
	pages := pagetest.Pages{Folder: "pages"}
	pages.Add(t, "off", serve(&owner{}, "GET", ui.MeaningAddress, nil))
	here := semantic.Search{On: true, Kind: "ollama", Address: "http://127.0.0.1:11434/api/embed", Model: "nomic",
		Vectors: 1204, Pending: 1}
	pages.Add(t, "here", serve(&owner{search: here}, "GET", ui.MeaningAddress, nil))
	next := noon.Add(time.Hour)
	away := semantic.Search{On: true, Kind: "openai", Address: "https://vectors.example/v1/embeddings", Model: "small",
		HasSecret: true, Leaves: true, Failure: "http_503", NextAt: &next}
	pages.Add(t, "away and failing", serve(&owner{search: away}, "GET", ui.MeaningAddress, nil))
	pages.Add(t, "refused", serve(&owner{fail: api.Invalid("address", "Nothing is sent to this address.", "Use https.")},
		"POST", ui.MeaningAddress, typed))
	pages.Check(t)
}

func TestButtons(t *testing.T) {
	t.Parallel()
	o := &owner{}
	for _, address := range []string{ui.MeaningAddress, ui.MeaningAddress + "/off"} {
		if w := serve(o, "POST", address, typed); w.Code != http.StatusSeeOther ||
			w.Header().Get("Location") != ui.MeaningAddress {
			t.Errorf("%s answered %d %s", address, w.Code, w.Header().Get("Location"))
		}
	}
	if want := []string{"openai https://vectors.example small sesame", "off"}; !slices.Equal(o.asked, want) {
		t.Errorf("asked %q, want %q", o.asked, want)
	}
	o.fail = errors.New("disk I/O error")
	if w := serve(o, "POST", ui.MeaningAddress+"/off", nil); w.Code != http.StatusInternalServerError {
		t.Errorf("answered %d", w.Code)
	}
}
