package server_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/pdpp-go/pdpp/internal/web/server"
)

// Pages of any site may read the addresses for programs, and no other.
func TestPagesOfOtherSitesReadWhatIsForPrograms(t *testing.T) {
	h := server.New(server.Config{Log: slog.New(slog.DiscardHandler), Mount: func(mux *http.ServeMux) {
		for _, path := range []string{"/mcp", "/oauth/token", "/_ref/things"} {
			mux.HandleFunc("POST "+path, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
		}
	}})
	for path, shared := range map[string]bool{"/mcp": true, "/oauth/token": true, "/_ref/things": false} {
		for _, method := range []string{http.MethodOptions, http.MethodPost} {
			r := httptest.NewRequest(method, "http://localhost"+path, nil)
			r.Header.Set("Origin", "https://assistant.example")
			r.Header.Set("Sec-Fetch-Site", "cross-site")
			if method == http.MethodOptions {
				r.Header.Set("Access-Control-Request-Method", http.MethodPost)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			allowed := w.Header().Get("Access-Control-Allow-Origin") == "*" && w.Code < 300
			if allowed != shared || w.Header().Get("Access-Control-Allow-Credentials") != "" {
				t.Errorf("%s %s: %d %v", method, path, w.Code, w.Header())
			}
		}
	}
}
