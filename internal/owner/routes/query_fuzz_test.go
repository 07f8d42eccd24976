package routes_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/pdpp-go/pdpp/internal/owner/routes"
)

// For any query string, the response is a page or a refusal.
func FuzzQuery(f *testing.F) {
	for _, seed := range []string{
		"", "limit=5", "limit=-1", "limit=99999999999999999999", "cursor=YWZ0ZXI6Y2luXzE", "order=asc&changes=true",
		"filter[kind]=plum",
		"filter[]=x", "filter[a]b]=c", "q=a&q=b", "after=7", "%zz", ";", "connection_id=%00", "format=csv&stream=a%0d%0ab",
	} {
		f.Add(seed)
	}
	mux := muxOf(routes.Routes(newFake(fake{}), nil))
	f.Fuzz(func(t *testing.T, query string) {
		for _, path := range []string{
			"/_ref/connectors", "/_ref/runs", "/_ref/runs/run_1/timeline", "/_ref/explore/streams", "/_ref/explore/records",
			"/_ref/search", "/_ref/export",
		} {
			r := httptest.NewRequest("GET", path, nil)
			r.URL.RawQuery = query
			w := httptest.NewRecorder()
			mux.ServeHTTP(w, r)
			if w.Code != http.StatusOK && w.Code != http.StatusBadRequest {
				t.Errorf("%s?%q: %d %s", path, query, w.Code, w.Body)
			}
		}
	})
}
