package browser

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	chromepage "github.com/chromedp/cdproto/page"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// TestTransport: requests of a page under the client that every connector uses.
func TestTransport(t *testing.T) {
	b := lend(t)
	b.web.mux.HandleFunc("/t/echo", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		must(t, err)
		w.Header().Set("X-Saw", fmt.Sprint(r.Method, " ", r.Header.Get("Sec-Fetch-Site"), " ", r.Header.Get("Authorization"),
			" ", r.Header.Get("Shelf-Device"), " ", r.Header.Get("Content-Type")))
		_, _ = w.Write(body)
	})
	b.web.mux.HandleFunc("/t/redirect",
		func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/login", http.StatusFound) })
	b.web.mux.HandleFunc("/t/status", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = w.Write([]byte("slow down"))
	})
	b.web.mux.HandleFunc("/t/packed", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"text":"` + strings.Repeat("grün\\n", 1000) + `"}`))
	})
	b.pages.headers = append(b.pages.headers, "Shelf-Device")
	ctx := within(t, time.Minute)

	binary := []byte{0xff, 0xfe, 0, 1, 2, 0x80}
	for name, body := range map[string][]byte{"text": []byte("größer \u2028 \"quoted\"\n\ufeff"), "binary": binary,
		"nothing": nil} {
		got, err := b.client.Do(ctx, governhttp.Request{Method: "POST", Path: "/t/echo", Body: body, Header: http.Header{
			"Authorization": {"Bearer x"}, "shelf-device": {"d1"}, "Content-Type": {"application/json"},
		}})
		must(t, err)
		if !bytes.Equal(got.Body, body) || got.Header.Get("X-Saw") != "POST same-origin Bearer x d1 application/json" {
			t.Errorf("%s: body %q, saw %q", name, got.Body, got.Header.Get("X-Saw"))
		}
	}
	got, err := b.client.Do(ctx, governhttp.Request{Path: "/t/packed"})
	must(t, err)
	if !strings.HasPrefix(string(got.Body), `{"text":"grün\n`) || got.Header.Get("Content-Length") != "" {
		t.Errorf("body %.20q, headers %v", got.Body, got.Header)
	}

	redirected, err := b.client.Do(ctx, governhttp.Request{Path: "/t/redirect"})
	must(t, err)
	if redirected.Status != http.StatusFound || redirected.Header.Get("Location") != "" {
		t.Errorf("a redirect is %d, %v", redirected.Status, redirected.Header)
	}
	before := b.web.requests("/login")
	if _, err := b.client.Do(ctx, governhttp.Request{Path: "/t/redirect"}); err != nil ||
		b.web.requests("/login") != before {
		t.Errorf("a redirect was followed: %v", err)
	}

	once := governhttp.NewSender(governor.New("once", func(c *governor.Config) { c.Attempts = 1 }),
		governhttp.SenderOptions{})
	slow, err := governhttp.New(governhttp.Options{BaseURL: b.web.URL, Transport: b.Transport(),
		Classify: connectorkit.ByStatus, Sender: once})
	must(t, err)
	_, err = slow.Do(ctx, governhttp.Request{Path: "/t/status"})
	var stopped *governhttp.Stopped
	if !errors.As(err, &stopped) || stopped.RetryAfter != 7*time.Second {
		t.Errorf("a refusal with a wait: %v", err)
	}
}

// TestTransportRefuses: what is not a page's own request does not leave.
func TestTransportRefuses(t *testing.T) {
	b := lend(t)
	elsewhere := newSite(t)
	ctx := within(t, time.Minute)
	for name, change := range map[string]func(*http.Request){
		"method":       func(r *http.Request) { r.Method = http.MethodDelete },
		"another site": func(r *http.Request) { r.URL, _ = r.URL.Parse(elsewhere.URL + "/api/session") },
		"another host": func(r *http.Request) { r.Host = "elsewhere.example" },
		"its agent":    func(r *http.Request) { r.Header.Set("User-Agent", "Mozilla/5.0 (a person)") },
		"its cookies":  func(r *http.Request) { r.Header.Set("Cookie", "a=b") },
		"its origin":   func(r *http.Request) { r.Header.Set("Origin", "https://elsewhere.example") },
		"a long body":  func(r *http.Request) { r.Method, r.Body = "POST", io.NopCloser(io.LimitReader(zeros{}, maxSent+1)) },
	} {
		req, err := http.NewRequestWithContext(ctx, "GET", b.web.URL+"/api/session", nil)
		must(t, err)
		change(req)
		before := b.web.requests("/api/session")
		if resp, err := b.Transport().RoundTrip(req); err == nil {
			t.Errorf("%s: answered %d", name, resp.StatusCode)
		}
		if b.web.requests("/api/session") != before || elsewhere.requests("/api/session") != 0 {
			t.Errorf("%s: it was sent", name)
		}
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { return len(b), nil }

// TestTransportBounds: a body that is too long is cut off in the page, and one that never
// ends, or a caller who has gone, leaves no request behind.
func TestTransportBounds(t *testing.T) {
	b := lend(t)
	gone := make(chan struct{}, 10)
	b.web.mux.HandleFunc("/t/endless", func(w http.ResponseWriter, r *http.Request) {
		chunk := bytes.Repeat([]byte("x"), 64<<10)
		for r.Context().Err() == nil {
			if _, err := w.Write(chunk); err != nil {
				break
			}
		}
		gone <- struct{}{}
	})
	b.web.mux.HandleFunc("/t/silent", func(w http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		gone <- struct{}{}
	})
	ctx := within(t, time.Minute)
	b.pages.limit = 1<<20 + 1
	defer func() { b.pages.limit = governhttp.DefaultMaxBody + 1 }()
	client := func(timeout time.Duration) *governhttp.Client {
		c, err := governhttp.New(governhttp.Options{BaseURL: b.web.URL, Transport: b.Transport(), MaxBody: 1 << 20,
			Timeout: timeout,
			Sender: governhttp.NewSender(governor.New("once", func(c *governor.Config) { c.Attempts = 1 }),
				governhttp.SenderOptions{})})
		must(t, err)
		return c
	}
	_, err := client(time.Minute).Get(ctx, "/t/endless", nil)
	var failed *governhttp.Error
	if !errors.As(err, &failed) || failed.Kind != governhttp.TooLarge {
		t.Errorf("an endless body: %v", err)
	}
	<-gone
	larger, err := http.NewRequestWithContext(ctx, "GET", b.web.URL+"/t/endless", nil)
	must(t, err)
	resp, err := b.Transport().RoundTrip(larger)
	must(t, err)
	if _, err := io.Copy(io.Discard, resp.Body); !errors.Is(err, errBodyTooLarge) {
		t.Errorf("a body beyond the bound reads as whole: %v", err)
	}
	<-gone
	_, err = client(time.Second).Get(ctx, "/t/silent", nil)
	if !errors.As(err, &failed) || failed.Kind != governhttp.Timeout {
		t.Errorf("a silent site: %v", err)
	}
	<-gone // the page let go of it
}

// TestTransportComesBack: a page that went elsewhere, crashed or was closed costs one
// request at most; the next one brings the quiet document back.
func TestTransportComesBack(t *testing.T) {
	b := lend(t)
	ctx := within(t, 2*time.Minute)
	fetch := func() error {
		req, err := http.NewRequestWithContext(ctx, "GET", b.web.URL+"/api/session", nil)
		must(t, err)
		resp, err := b.Transport().RoundTrip(req)
		if err == nil && resp.StatusCode != http.StatusOK {
			return fmt.Errorf("status %d", resp.StatusCode)
		}
		return err
	}
	must(t, fetch())
	for name, harm := range map[string]func(*tab){
		"navigated": func(p *tab) {
			_, err := cdp.Call(ctx, p.s, chromepage.Navigate, chromepage.NavigateParams{URL: b.web.URL + "/home"})
			must(t, err)
		},
		"crashed": func(p *tab) {
			go func() { _, _ = cdp.Call(context.Background(), p.s, chromepage.Crash, cdp.Empty{}) }()
			until(t, "the page has ended", func() bool { return !p.alive() })
		},
		"closed": func(p *tab) {
			must(t, p.close(ctx))
			until(t, "the page has ended", func() bool { return !p.alive() })
		},
	} {
		harm(b.pages.tab)
		failed := 0
		for fetch() != nil {
			if failed++; failed > 1 {
				t.Fatalf("%s: two requests failed", name)
			}
		}
	}
	if n := b.web.requests("/robots.txt"); n != 0 {
		t.Errorf("the site was asked %d times for a document that says nothing", n)
	}
}

// TestTransportIsAlone: the site's own scripts are not there, neither to disturb nor to see.
func TestTransportIsAlone(t *testing.T) {
	b := lend(t)
	ctx := within(t, time.Minute)
	b.web.mux.HandleFunc("/t/hostile",
		document("Hostile", `<script>window.fetch = () => Promise.reject("no"); window.seen = Object.keys(window)`+
			`.filter(k => k.includes("pdpp"))</script>`))
	page, err := b.tabs.openTab(ctx)
	must(t, err)
	defer page.close(ctx)
	must(t, page.load(ctx, b.web.URL+"/t/hostile"))
	own := &pageTransport{home: b.pages.home, headers: allowedHeaders, limit: 1 << 20, tab: page, ready: true,
		loading: make(chan struct{}, 1)}
	req, err := http.NewRequestWithContext(ctx, "GET", b.web.URL+"/api/session", nil)
	must(t, err)
	resp, err := own.RoundTrip(req)
	must(t, err)
	if resp.StatusCode != http.StatusOK {
		t.Errorf("status %d", resp.StatusCode)
	}
}
