package console

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/view"
)

// namedHome is a home with names of sources.
type namedHome struct {
	api.Owner
	names map[string]string
}

func (h *namedHome) Streams(context.Context, string) ([]api.Stream, error) { return nil, nil }

func (h *namedHome) Overview(context.Context) (view.Overview, error) {
	var all view.Overview
	for id, name := range h.names {
		all.Connections = append(all.Connections, view.Connection{ID: id, DisplayName: name})
	}
	return all, nil
}

// A page of a source is reached by the name and by the id, right after a new name as well.
func TestSourcesAreAddressedByName(t *testing.T) {
	home := &namedHome{names: map[string]string{"cin_1": "Ferry chat", "cin_2": "Letters"}}
	reader := newMenuReader(Config{Owner: home, Now: func() time.Time { return time.Unix(1_700_000_000, 0) }})
	mux, asked := http.NewServeMux(), ""
	mux.Handle("GET /sources/{id}", reader.named(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked = r.PathValue("id")
	})))
	ask := func(name string) string {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/sources/"+name, nil)
		mux.ServeHTTP(httptest.NewRecorder(), r)
		return asked
	}
	for name, id := range map[string]string{"ferry-chat": "cin_1", "letters": "cin_2", "cin_2": "cin_2", "none": "none"} {
		if got := ask(name); got != id {
			t.Errorf("%s leads to %q, want %q", name, got, id)
		}
	}
	home.names["cin_1"] = "Boat talk"
	if got := ask("boat-talk"); got != "cin_1" {
		t.Errorf("the new name leads to %q", got)
	}
}
