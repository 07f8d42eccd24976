package server

import (
	"net/http"
	"strings"

	"github.com/pdpp-go/pdpp/internal/web/reply"
)

// withErrorsAsJSON answers with the error envelope if no route matches. A browser gets notFound
// instead, unless it is nil.
func withErrorsAsJSON(mux *http.ServeMux, notFound http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler, pattern := mux.Handler(r)
		if pattern != "" {
			mux.ServeHTTP(w, r)
			return
		}
		refusal := discardAnswer(handler, r)
		if refusal.status == http.StatusMethodNotAllowed {
			w.Header().Set("Allow", refusal.header.Get("Allow"))
			reply.Error(w, r, refusal.status, reply.TypeInvalidRequest, "method_not_allowed",
				"This address does not take that method.")
			return
		}
		if notFound != nil && r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html") {
			notFound.ServeHTTP(w, r)
			return
		}
		reply.Error(w, r, http.StatusNotFound, reply.TypeInvalidRequest, "not_found", "There is nothing at this address.")
	})
}

// discardedAnswer keeps the status and the headers of an answer, and drops its body.
type discardedAnswer struct {
	status int
	header http.Header
}

func discardAnswer(h http.Handler, r *http.Request) discardedAnswer {
	w := &discardedAnswer{status: http.StatusOK, header: http.Header{}}
	h.ServeHTTP(w, r)
	return *w
}

func (r *discardedAnswer) Header() http.Header         { return r.header }
func (r *discardedAnswer) WriteHeader(status int)      { r.status = status }
func (r *discardedAnswer) Write(b []byte) (int, error) { return len(b), nil }
