package server

import (
	"mime"
	"net/http"

	"github.com/pdpp-go/pdpp/internal/web/reply"
)

// maxForm is the most that a form may hold.
const maxForm = 256 << 10

// withBodyLimits bounds the bodies of the two kinds that surfaces take, and reads
// forms before any handler does: one that is too large, too slow or broken is
// answered here, and a handler finds r.PostForm filled. A route that takes another
// kind of body, or of which own says so, bounds it itself.
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
			if err = bound(w, r, maxForm); err == nil {
				err = r.ParseForm()
			}
		case "multipart/form-data":
			if err = bound(w, r, maxForm); err == nil {
				err = r.ParseMultipartForm(maxForm)
			}
		case "application/json":
			err = bound(w, r, reply.MaxBody)
		}
		if err != nil {
			reply.BadBody(w, r, err, "The form cannot be read.")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// bound refuses a body that says itself that it is too large, and cuts off any other there.
func bound(w http.ResponseWriter, r *http.Request, most int64) error {
	if r.ContentLength > most {
		return &http.MaxBytesError{Limit: most}
	}
	r.Body = http.MaxBytesReader(w, r.Body, most)
	return nil
}
