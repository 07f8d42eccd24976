package surface

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/protocol/surface"
)

// gate is a server that takes the pages of workers, by tickets that are good once.
type gate struct {
	*httptest.Server
	mu     sync.Mutex
	n      int
	good   map[string]bool
	silent bool // does not show that it is the owner's
	shut   bool // rejects everyone
	ending chan struct{}
}

func newGate(t *testing.T, h *Hub) *gate {
	g := &gate{good: map[string]bool{}, ending: make(chan struct{})}
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ticket := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		g.mu.Lock()
		good, proof := g.good[ticket] && !g.shut, "proof of "+ticket
		delete(g.good, ticket)
		if g.silent {
			proof = "anything"
		}
		g.mu.Unlock()
		if !good {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		h.ServeWorker(w, r, "run_1", proof, g.ending)
	}))
	t.Cleanup(g.Close)
	return g
}

func (g *gate) passage(context.Context, string) (Passage, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.n++
	ticket := strconv.Itoa(g.n)
	g.good[ticket] = true
	return Passage{Address: g.URL + "/worker", Ticket: ticket, Proof: "proof of " + ticket}, nil
}

func (g *gate) set(change func(*gate)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	change(g)
}

// lift attaches a page to an uplink and returns the connector's end.
func lift(t *testing.T, passage func(context.Context, string) (Passage, error)) *child {
	near, far := net.Pipe()
	c := listening(t, far)
	up := NewUplink(t.Context(), passage, slog.New(slog.DiscardHandler))
	up.Attach("run_1", near)
	return c
}

func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// saw reports whether a window has received a state.
func (w *window) saw(s viewerState) func() bool {
	return func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return slices.ContainsFunc(w.got, func(item any) bool { n, is := item.(viewerNote); return is && n.State == s })
	}
}

func (w *window) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.got = nil
}

func (c *child) was(sent surface.PageMessage) func() bool {
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return slices.Contains(c.got, sent)
	}
}

// severs breaks the link of a hub's page.
func (h *Hub) severs(t *testing.T) {
	t.Helper()
	h.mu.Lock()
	p := h.pages["run_1"]
	h.mu.Unlock()
	if p == nil {
		t.Fatal("there is no page")
	}
	_ = p.conn.Close()
}

// A page of another process is shown and used. A broken link is replaced together with the page's description, and a
// page that settled meanwhile is reported when the link is back.
func TestUplink(t *testing.T) {
	t.Parallel()
	a := &world{asked: Asked{RunID: "run_1", Question: "q1"}}
	h := New(t.Context(), Config{Answer: a.answer})
	g := newGate(t, h)
	c := lift(t, g.passage)
	w := a.open(t, h)
	w.does(desk)
	dialog := surface.Dialog{ID: "d1", Kind: surface.DialogAlert, Message: "Hello"}
	c.say(surface.Ready{}, surface.Place{Origin: "https://shop.example", Title: "Sign in"}, dialog)
	until(t, "it is live", w.saw(stateLive))
	until(t, "pictures are asked for", c.was(desk))
	c.say(shot(1))
	until(t, "a picture", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return slices.ContainsFunc(w.got, func(item any) bool { p, is := item.(surface.Picture); return is && p.Seq == 1 })
	})
	w.does(key("a"))
	until(t, "a key", c.was(key("a")))

	w.forget()
	c.heard()
	h.severs(t)
	until(t, "it is lost", w.saw(stateLost))
	until(t, "nobody looks", c.was(surface.End{}))
	until(t, "it is live again", w.saw(stateLive))
	until(t, "the dialog is there again", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return slices.Contains(w.got, any(dialog))
	})
	w.does(surface.Choose{ID: "d1", Accept: true}, key("b"))
	until(t, "another key", c.was(key("b")))

	w.forget()
	g.set(func(g *gate) { g.shut = true })
	h.severs(t)
	until(t, "it is lost again", w.saw(stateLost))
	c.say(surface.Settled{})
	g.set(func(g *gate) { g.shut = false })
	until(t, "the question is answered", func() bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		return slices.Equal(a.answers, []bool{true})
	})
	w.mu.Lock()
	if slices.Contains(w.got, any(dialog)) {
		t.Error("a dialog that was answered came again")
	}
	w.mu.Unlock()
	c.say(surface.Closed{Reason: "over"})
	until(t, "the link ends with the page", func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return len(h.pages) == 0
	})
	_ = c.conn.Close()
}

// Nothing of a page goes to who is not the owner's server, or where others read on the way.
func TestUplinkToStrangers(t *testing.T) {
	t.Parallel()
	h := New(t.Context(), Config{})
	g := newGate(t, h)
	g.silent = true
	tries := make(chan struct{}, 100)
	count := func(p func(context.Context, string) (Passage, error)) func(context.Context, string) (Passage, error) {
		return func(ctx context.Context, run string) (Passage, error) {
			tries <- struct{}{}
			return p(ctx, run)
		}
	}
	c := lift(t, count(g.passage))
	c.say(surface.Ready{}, surface.Place{Origin: "https://shop.example", Title: "Sign in"})
	for range 2 {
		<-tries
	}
	h.mu.Lock()
	p := h.pages["run_1"]
	h.mu.Unlock()
	if p != nil && p.open() {
		t.Error("a page went to a server that did not show that it is the owner's")
	}
	_ = c.conn.Close()

	for address, want := range map[string]bool{
		"https://pdpp.example/x": true, "http://127.0.0.1:8/x": true, "http://[::1]:8/x": true, "http://localhost:8/x": true,
		"http://pdpp.example/x": false, "http://192.168.0.4:8/x": false, "http://127.0.0.1.example/x": false, "": false,
		"ftp://pdpp.example": false,
	} {
		if got := isPrivateAddress(address); got != want {
			t.Errorf("private(%q) = %v", address, got)
		}
	}
}
