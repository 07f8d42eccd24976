package oauth

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

func TestAllowance(t *testing.T) {
	at := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	kept := 0
	a := &allowance{now: func() time.Time { return at }}
	h := a.bounded(func(http.ResponseWriter, *http.Request) { kept++ })
	ask := func() *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		h(w, httptest.NewRequest(http.MethodPost, "/oauth/par", nil))
		return w
	}
	for range allowed {
		ask()
	}
	at = at.Add(20 * time.Minute)
	if w := ask(); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "2401" || kept != allowed {
		t.Errorf("one more: %d, Retry-After %q, %d kept", w.Code, w.Header().Get("Retry-After"), kept)
	}
	at = at.Add(40 * time.Minute)
	if w := ask(); w.Code != http.StatusOK || kept != allowed+1 {
		t.Errorf("an hour later: %d, %d kept", w.Code, kept)
	}
}
