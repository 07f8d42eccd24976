package server

import (
	"crypto/rand"
	"log/slog"
	"net/http"
	"runtime/debug"

	"github.com/pdpp-go/pdpp/internal/web/reply"
)

// withRequestID generates the id of every request. An id from the client would put client data into our log.
func withRequestID(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := "req_" + rand.Text()
		w.Header().Set("Request-Id", id)
		next.ServeHTTP(w, r.WithContext(reply.WithRequestID(r.Context(), id)))
	})
}

// withHeaders sets headers that are safe for answers to programs. Pages set their own policy over them. A server with
// a public TLS address tells browsers to use only TLS.
func withHeaders(version string, byTLS bool, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		if byTLS {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		if version != "" {
			h.Set("PDPP-Version", version)
		}
		next.ServeHTTP(w, r)
	})
}

// survivingPanics answers for a handler that panics, as far as it has not
// answered itself, and ends the connection otherwise.
func survivingPanics(log *slog.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun := &begunWriter{ResponseWriter: w}
		defer func() {
			switch v := recover(); v {
			case nil:
			case http.ErrAbortHandler:
				panic(v)
			default:
				log.ErrorContext(r.Context(), "a request failed", "request_id", reply.RequestID(r.Context()),
					"route", r.Pattern, "panic", v, "stack", string(debug.Stack()))
				if begun.begun {
					panic(http.ErrAbortHandler)
				}
				reply.Error(w, r, http.StatusInternalServerError, reply.TypeAPI, "internal_error",
					"Something went wrong here. The log has more under the request id.")
			}
		}()
		next.ServeHTTP(begun, r)
	})
}

// begunWriter knows whether an answer has begun.
type begunWriter struct {
	http.ResponseWriter
	begun bool
}

func (w *begunWriter) WriteHeader(status int) {
	w.begun = true
	w.ResponseWriter.WriteHeader(status)
}

func (w *begunWriter) Write(b []byte) (int, error) {
	w.begun = true
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController through.
func (w *begunWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
