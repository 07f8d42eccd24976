package server

import (
	"mime"
	"net/http"

	"github.com/pdpp-go/pdpp/internal/web/reply"
)

// maxForm is the most that a form may hold.
const maxForm = 256 << 10

// withBodyLimits limits JSON and form bodies and parses forms before any handler. It answers for a form that is too
// large, too slow or broken; handlers find r.PostForm filled. A route with another kind of body, or one that own
// selects, limits its body itself.
func withBodyLimits(own func(*http.Request) bool, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if own != nil && own(r) {
			next.ServeHTTP(w, r)
			return
		}
		kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
		var err error
		switch kind {
		case "application/x-www-form-urlencoded":
			if err = limitBody(w, r, maxForm); err == nil {
				err = r.ParseForm()
			}
		case "multipart/form-data":
			if err = limitBody(w, r, maxForm); err == nil {
				err = r.ParseMultipartForm(maxForm)
			}
		case "application/json":
			err = limitBody(w, r, reply.MaxBody)
		}
		if err != nil {
			reply.BadBody(w, r, err, "The form cannot be read.")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// limitBody rejects a body with a declared length over most, and cuts off any other body there.
func limitBody(w http.ResponseWriter, r *http.Request, most int64) error {
	if r.ContentLength > most {
		return &http.MaxBytesError{Limit: most}
	}
	r.Body = http.MaxBytesReader(w, r.Body, most)
	return nil
}
