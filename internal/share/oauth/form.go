package oauth

import (
	"errors"
	"mime"
	"net/http"
	"net/url"
)

// maxForm is the most that a form of an app may hold.
const maxForm = 64 << 10

// parseForm parses form data without repeated parameters (RFC 6749, 3.1). If it cannot, it answers and returns false.
func parseForm(w http.ResponseWriter, r *http.Request) (url.Values, bool) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/x-www-form-urlencoded" {
		writeOAuthError(w, http.StatusBadRequest, "invalid_request", "Send the body as application/x-www-form-urlencoded.")
		return nil, false
	}
	if r.PostForm == nil { // otherwise the server has read it
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	}
	var large *http.MaxBytesError
	switch err := r.ParseForm(); {
	case errors.As(err, &large):
		writeOAuthError(w, http.StatusRequestEntityTooLarge, "invalid_request", "The body is too large.")
	case err != nil || repeated(r.PostForm):
		writeOAuthError(w, http.StatusBadRequest, "invalid_request", "The body cannot be read, or gives a parameter twice.")
	default:
		return r.PostForm, true
	}
	return nil, false
}

func repeated(values url.Values) bool {
	for _, given := range values {
		if len(given) > 1 {
			return true
		}
	}
	return false
}
