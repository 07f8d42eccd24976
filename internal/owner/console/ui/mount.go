package ui

import (
	"net/http"
	"strings"
)

// Addresses below which the name of a connector, and not the id of a source, comes next.
const (
	sourcesBelow = "/sources/"
	addBelow     = "/sources/add"
)

// muxOf returns the mux that a pattern belongs to. A ServeMux refuses patterns like /sources/add/{connector}
// beside /sources/{id}/files, because either could be meant; here the word add always wins.
func muxOf(pattern string, rest, sources, added *http.ServeMux) *http.ServeMux {
	_, path, _ := strings.Cut(pattern, " ")
	switch {
	case path == addBelow || strings.HasPrefix(path, addBelow+"/"):
		return added
	case strings.HasPrefix(path, sourcesBelow):
		return sources
	default:
		return rest
	}
}

// sourcesMux chooses between the pages that add a source and those of one source.
type sourcesMux struct{ sources, added *http.ServeMux }

// Handler returns what answers a request, and its pattern, as http.ServeMux does.
func (m sourcesMux) Handler(r *http.Request) (http.Handler, string) { return m.of(r).Handler(r) }

func (m sourcesMux) of(r *http.Request) *http.ServeMux {
	if r.URL.Path == addBelow || strings.HasPrefix(r.URL.Path, addBelow+"/") {
		return m.added
	}
	return m.sources
}

func (m sourcesMux) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, pattern := m.Handler(r); pattern == "" && r.Method == http.MethodGet {
		ShowNoPage(w, r)
		return
	}
	m.of(r).ServeHTTP(w, r)
}

// Mount adds routes to mux; handler returns what answers a route.
func Mount(mux *http.ServeMux, all []Route, handler func(Route) http.Handler) {
	sources, added := http.NewServeMux(), http.NewServeMux()
	for _, r := range all {
		muxOf(r.Pattern, mux, sources, added).Handle(r.Pattern, handler(r))
	}
	below := sourcesMux{sources, added}
	mux.Handle(sourcesBelow, below)
	mux.Handle(addBelow, below)
}
