package server

import (
	"net/http"

	"github.com/pdpp-go/pdpp/internal/web/reply"
)

// withErrorsAsJSON answers in the mux's place when no route fits: what it would
// say in text becomes the error envelope.
func withErrorsAsJSON(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler, pattern := mux.Handler(r)
		if pattern != "" {
			mux.ServeHTTP(w, r)
			return
		}
		refusal := refusalOf(handler, r)
		if refusal.status == http.StatusMethodNotAllowed {
			w.Header().Set("Allow", refusal.header.Get("Allow"))
			reply.Error(w, r, refusal.status, reply.TypeInvalidRequest, "method_not_allowed", "This address does not take that method.")
			return
		}
		reply.Error(w, r, http.StatusNotFound, reply.TypeInvalidRequest, "not_found", "There is nothing at this address.")
	})
}

// refusal keeps the status and the headers of an answer, and drops its body.
type refusal struct {
	status int
	header http.Header
}

func refusalOf(h http.Handler, r *http.Request) refusal {
	w := &refusal{status: http.StatusOK, header: http.Header{}}
	h.ServeHTTP(w, r)
	return *w
}

func (r *refusal) Header() http.Header         { return r.header }
func (r *refusal) WriteHeader(status int)      { r.status = status }
func (r *refusal) Write(b []byte) (int, error) { return len(b), nil }
