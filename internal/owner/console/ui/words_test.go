package ui

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
)

var noon = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

func TestWords(t *testing.T) {
	for got, want := range map[string]string{
		Span(12): "12 s", Span(41 * 60): "41 min", Span(2*3600 + 300): "2 h 5 min", Span(3 * 86400): "3 days",
		Rhythm(6 * 3600): "Every 6 hours", Rhythm(3600): "Every hour", Rhythm(90): "Every 90 seconds", Rhythm(86400): "Every day",
		Ago(noon.Add(-20*time.Second), noon): "just now", Ago(noon.Add(-5*time.Minute), noon): "5 minutes ago", Ago(noon.Add(-49*time.Hour), noon): "2 days ago",
		Moment(noon.Add(-time.Hour), noon): "today 11:00", Moment(noon.Add(-13*time.Hour), noon): "yesterday 23:00",
		Moment(noon.Add(13*time.Hour), noon): "tomorrow 01:00", Moment(noon.Add(-23*time.Hour-24*time.Hour), noon): "8 March 13:00",
		Moment(noon.AddDate(-1, 0, 0), noon): "10 March 2025 12:00",
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
	Done(w, httptest.NewRequest("POST", "/x", nil), "/connections/a", Message{Kind: "ok", Text: "Saved <b>it</b>.", Link: "/runs/1", LinkText: "Open"})
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/connections/a" {
		t.Fatalf("%d to %q", w.Code, w.Header().Get("Location"))
	}
	r := httptest.NewRequest("GET", "/connections/a", nil)
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
	for _, link := range []string{"https://elsewhere.example", "//elsewhere.example", `/\elsewhere.example`, "javascript:alert(1)"} {
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

// How long a source is left alone is told in the owner's zone, as every other moment.
func TestWaitIsToldInTheOwnersZone(t *testing.T) {
	now := time.Date(2026, 3, 10, 23, 0, 0, 0, time.FixedZone("", 2*3600))
	wait := faults.Waits("cin_1", &store.WaitError{Until: now.Add(3 * time.Hour)})
	r := httptest.NewRequest(http.MethodPost, "/connections/cin_1/run", nil)
	r.Header.Set("Hx-Request", "true")
	w := httptest.NewRecorder()
	Fail(w, r, Frame{Now: now}, wait)
	if page := w.Body.String(); !strings.Contains(page, "left alone until "+Moment(now.Add(3*time.Hour), now)+". Nothing was started.") || strings.Contains(page, "UTC") {
		t.Errorf("the owner reads %s", page)
	}
}
