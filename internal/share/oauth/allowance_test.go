package oauth

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// A caller uses up only its own allowance: other addresses and known apps are still admitted, and failed requests are
// not counted as stored.
func TestAllowances(t *testing.T) {
	at := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	a := newAllowances(func() time.Time { return at })
	from := func(address string, kept bool) *httptest.ResponseRecorder {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/oauth/par", nil)
		r.RemoteAddr = address
		if giveBack := a.admitStranger(w, r); giveBack != nil && !kept {
			giveBack()
		}
		return w
	}
	for i := range allowed {
		if w := from(fmt.Sprintf("[2001:db8::%x]:40000", i+1), false); w.Code != http.StatusOK {
			t.Fatalf("attempt %d: %d", i, w.Code)
		}
	}
	at = at.Add(20 * time.Minute)
	if w := from("[2001:db8::ffff]:40000", false); w.Code != http.StatusTooManyRequests ||
		w.Header().Get("Retry-After") != "2401" {
		t.Errorf("one more of a network: %d, Retry-After %q", w.Code, w.Header().Get("Retry-After"))
	}
	for _, other := range []string{"[2001:db8:0:1::1]:40000", "192.0.2.7:1234", "[::ffff:192.0.2.8]:1"} {
		if w := from(other, false); w.Code != http.StatusOK {
			t.Errorf("%s: %d", other, w.Code)
		}
	}
	for i := range allowedToAll {
		from(fmt.Sprintf("198.51.%d.%d:1", i/200, i%200), true)
	}
	if w := from("203.0.113.1:1", true); w.Code != http.StatusTooManyRequests {
		t.Errorf("beyond what is kept for strangers: %d", w.Code)
	}
	w := httptest.NewRecorder()
	if a.approved(w, "cl_known") == nil {
		t.Errorf("an app that the owner approved: %d", w.Code)
	}
	at = at.Add(time.Hour)
	if w := from("203.0.113.1:1", true); w.Code != http.StatusOK {
		t.Errorf("an hour later: %d", w.Code)
	}
}

// However many addresses there are, what is remembered of them is bounded.
func TestAllowancesAreBounded(t *testing.T) {
	at := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	a := newAllowances(func() time.Time { return at })
	for i := range maxAllowances + 10 {
		if ok, _ := a.admitRequest(fmt.Sprint("address ", i)); ok != (i < maxAllowances) {
			t.Fatalf("address %d: %v", i, ok)
		}
	}
	at = at.Add(allowFor)
	if ok, _ := a.admitRequest("another"); !ok || len(a.by) != 1 {
		t.Errorf("an hour later: %v, %d remembered", ok, len(a.by))
	}
}
