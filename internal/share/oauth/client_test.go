package oauth_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/share/oauth"
)

// An unused registration ends: after a day without a request, a month after the last request, a year after a grant.
func TestRegistrationsEnd(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		day := 24 * time.Hour
		register := func() string {
			return w.register(`{"client_name":"App","redirect_uris":["` + back + `"]}`).Client
		}
		asks := func(client string) int { return w.post("/oauth/par", pushed(client)).status }
		unused := register()
		asking, request := w.app()
		granted, wish := w.app()
		w.approve(wish)
		_, _, err := w.grants.Decide(t.Context(), request, grants.Decision{})
		check(t, err)
		exists := func(client string) bool {
			_, err := w.grants.Client(t.Context(), client)
			return err == nil
		}
		steps := []struct {
			after                   time.Duration
			unused, asking, granted bool
		}{
			{day - time.Second, true, true, true},
			{time.Second, false, true, true},
			{29*day - time.Second, false, true, true},
			{time.Second, false, false, true},
			{335*day - time.Second, false, false, true},
			{time.Second, false, false, false},
		}
		for i, s := range steps {
			w.later.Add(int64(s.after))
			if got := [3]bool{exists(unused), exists(asking), exists(granted)}; got != [3]bool{s.unused, s.asking, s.granted} {
				t.Errorf("step %d: %v", i, got)
			}
		}
		for _, client := range []string{unused, asking, granted} {
			if status := asks(client); status != http.StatusUnauthorized {
				t.Errorf("an app that was forgotten asks: %d", status)
			}
		}
	})
}

// Junk from one address leaves others their allowance, and an app that the owner knows
// has one of its own even at that address.
func TestJunkUsesUpItsOwnAllowance(t *testing.T) {
	w := newWorld(t)
	known, request := w.app()
	w.approve(request)
	mux := http.NewServeMux()
	for _, r := range oauth.Routes(oauth.Config{Grants: w.grants, Issuer: issuer}) {
		mux.HandleFunc(r.Pattern, r.Handle)
	}
	from := func(address string, form url.Values) int {
		r := httptest.NewRequest(http.MethodPost, "/oauth/par", strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.RemoteAddr = address
		answered := httptest.NewRecorder()
		mux.ServeHTTP(answered, r)
		return answered.Code
	}
	junk := pushed("cl_nobody")
	refused := 0
	for range 300 {
		if from("192.0.2.1:1", junk) == http.StatusTooManyRequests {
			refused++
		}
	}
	if refused != 240 {
		t.Errorf("of 300 %d were refused", refused)
	}
	if status := from("192.0.2.1:1", pushed(known)); status != http.StatusCreated {
		t.Errorf("an app that the owner knows, at the same address: %d", status)
	}
	stranger := w.register(`{"client_name":"App","redirect_uris":["` + back + `"]}`).Client
	if status := from("192.0.2.2:1", pushed(stranger)); status != http.StatusCreated {
		t.Errorf("a stranger elsewhere: %d", status)
	}
}
