package oauth

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestForm holds which bodies of apps are read, and that a handler goes on with no other.
func TestForm(t *testing.T) {
	const kind = "application/x-www-form-urlencoded"
	for _, c := range []struct {
		kind, body string
		status     int
	}{
		{kind, "a=b&c=", http.StatusOK}, {kind + "; charset=UTF-8", "a=b", http.StatusOK},
		{kind, "a=" + strings.Repeat("b", maxForm-2), http.StatusOK},
		{kind, "a=" + strings.Repeat("b", maxForm-1), http.StatusRequestEntityTooLarge},
		{"application/json", "a=b", http.StatusBadRequest}, {"", "a=b", http.StatusBadRequest},
		{kind, "a=%zz", http.StatusBadRequest}, {kind, "a=b&a=c", http.StatusBadRequest},
	} {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/oauth/token", strings.NewReader(c.body))
		r.Header.Set("Content-Type", c.kind)
		values, ok := parseForm(w, r)
		if w.Code != c.status || ok != (c.status == http.StatusOK) || ok && !values.Has("a") || !ok && values != nil {
			t.Errorf("%q, %.20q: %d, %v, %v", c.kind, c.body, w.Code, ok, len(values))
		}
	}
}
