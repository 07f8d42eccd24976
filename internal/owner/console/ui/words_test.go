package ui

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

var noon = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

func TestWords(t *testing.T) {
	for got, want := range map[string]string{
		Moment(noon.Add(-time.Hour), noon): "today 11:00", Moment(noon.Add(-13*time.Hour), noon): "yesterday 23:00",
		Moment(noon.Add(13*time.Hour), noon):               "tomorrow 01:00",
		Moment(noon.Add(-23*time.Hour-24*time.Hour), noon): "8 March 13:00",
		Moment(noon.AddDate(-1, 0, 0), noon):               "10 March 2025 12:00",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestMomentIsInTheReadersZone(t *testing.T) {
	zone := time.FixedZone("east", 9*3600)
	if got := Moment(noon.Add(4*time.Hour), noon.In(zone)); got != "tomorrow 01:00" {
		t.Errorf("%q", got)
	}
}

// A message reaches the next page once, and never leads elsewhere.
func TestMessageGoesToTheNextPageOnce(t *testing.T) {
	w := httptest.NewRecorder()
	Done(w, httptest.NewRequest("POST", "/x", nil), "/sources/a",
		Message{Kind: "ok", Text: "Saved <b>it</b>.", Link: "/runs/1", LinkText: "Open"})
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/sources/a" {
		t.Fatalf("%d to %q", w.Code, w.Header().Get("Location"))
	}
	r := httptest.NewRequest("GET", "/sources/a", nil)
	for _, c := range w.Result().Cookies() {
		if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode {
			t.Errorf("the cookie is %v", c)
		}
		r.AddCookie(c)
	}
	next := httptest.NewRecorder()
	m := TakeFlash(next, r)
	if m == nil || m.Text != "Saved <b>it</b>." || m.Link != "/runs/1" {
		t.Fatalf("%+v", m)
	}
	if !strings.Contains(next.Header().Get("Set-Cookie"), "Max-Age=0") {
		t.Error("the message stays")
	}
	for _, link := range []string{"https://elsewhere.example", "//elsewhere.example", `/\elsewhere.example`,
		"javascript:alert(1)"} {
		w = httptest.NewRecorder()
		Done(w, httptest.NewRequest("POST", "/x", nil), "/", Message{Text: "x", Link: link})
		r = httptest.NewRequest("GET", "/", nil)
		r.AddCookie(w.Result().Cookies()[0])
		if m = TakeFlash(httptest.NewRecorder(), r); m != nil {
			t.Errorf("a message leads to %s", link)
		}
	}
}

func FuzzFlash(f *testing.F) {
	f.Add("e30")
	f.Add("")
	f.Fuzz(func(t *testing.T, value string) {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Cookie", flashCookie+"="+strings.NewReplacer("\n", "", "\r", "").Replace(value))
		if m := TakeFlash(httptest.NewRecorder(), r); m != nil && !localPath(m.Link) {
			t.Errorf("%+v", m)
		}
	})
}

// The page shows the end of a provider wait in the owner's time zone, like every other time.
func TestWaitIsToldInTheOwnersZone(t *testing.T) {
	now := time.Date(2026, 3, 10, 23, 0, 0, 0, time.FixedZone("", 2*3600))
	wait := faults.ProviderWait("cin_1", &store.WaitError{Until: now.Add(3 * time.Hour)})
	r := httptest.NewRequest(http.MethodPost, "/sources/cin_1/run", nil)
	r.Header.Set("Hx-Request", "true")
	w := httptest.NewRecorder()
	ShowFailure(w, r, Frame{Now: now}, wait)
	if page := w.Body.String(); !strings.Contains(page,
		"asked for a pause until "+Moment(now.Add(3*time.Hour), now)+". Nothing was started.") ||
		strings.Contains(page, "UTC") {
		t.Errorf("the owner reads %s", page)
	}
}
