package surface

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pdpp-go/pdpp/protocol/surface"
)

var jpeg = []byte{0xFF, 0xD8, 0xFF, 0xE0}

// child is the far end of a page's channel, as a connector has it.
type child struct {
	t    *testing.T
	conn net.Conn
	mu   sync.Mutex
	got  []surface.PageMessage
}

// attach lets a run show a page.
func attach(t *testing.T, h *Hub, runID string) *child {
	near, far := net.Pipe()
	h.Attach(runID, near)
	return listening(t, far)
}

// listening is a connector that takes what it is sent.
func listening(t *testing.T, far net.Conn) *child {
	c := &child{t: t, conn: far}
	go func() {
		from := surface.NewReader(far)
		for {
			f, err := from.Next()
			if err != nil {
				return
			}
			m, err := surface.ParseFrame(f)
			if err != nil || m == nil {
				t.Errorf("the connector was sent %v: %v", f, err)
			}
			c.mu.Lock()
			c.got = append(c.got, m)
			c.mu.Unlock()
		}
	}()
	t.Cleanup(func() { _ = far.Close() })
	return c
}

func (c *child) say(all ...surface.PageMessage) {
	c.t.Helper()
	for _, m := range all {
		if err := surface.Send(c.conn, m); err != nil {
			c.t.Fatal(err)
		}
	}
}

// heard returns what the connector received since the last call.
func (c *child) heard() []surface.PageMessage {
	c.mu.Lock()
	defer c.mu.Unlock()
	got := c.got
	c.got = nil
	return got
}

// window is a viewer that a test plays.
type window struct {
	t     *testing.T
	words chan any // frames and wishes
	mu    sync.Mutex
	got   []any // notes and messages
	slow  chan struct{}
	end   func()
	err   error
	ended chan struct{}
}

func (w *window) put(item any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.got = append(w.got, item)
}

func (w *window) tell(_ context.Context, n viewerNote) error { w.put(n); return nil }

func (w *window) send(ctx context.Context, f surface.Frame) error {
	if w.slow != nil {
		select {
		case <-w.slow:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	m, err := surface.ParseFrame(f)
	if err != nil {
		w.t.Errorf("the window was sent %v: %v", f, err)
	}
	w.put(m)
	return nil
}

func (w *window) receive(ctx context.Context) (surface.Frame, viewerRequest, error) {
	select {
	case item, ok := <-w.words:
		if !ok {
			return surface.Frame{}, viewerRequest{}, io.EOF
		}
		if f, is := item.(surface.Frame); is {
			return f, viewerRequest{}, nil
		}
		return surface.Frame{}, item.(viewerRequest), nil
	case <-ctx.Done():
		return surface.Frame{}, viewerRequest{}, ctx.Err()
	}
}

// heard returns what the window received since the last call.
func (w *window) heard() []any {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	got := w.got
	w.got = nil
	return got
}

func (w *window) does(all ...surface.PageMessage) {
	w.t.Helper()
	for _, m := range all {
		f, err := surface.Encode(m)
		if err != nil {
			w.t.Fatal(err)
		}
		w.words <- f
	}
}

// world is what the owner may do and is asked, as a test has it.
type world struct {
	mu      sync.Mutex
	asked   Asked
	out     bool
	answers []bool
	refuse  int // so many answers fail first
}

func (a *world) set(change func(*world)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change(a)
}

func (a *world) answer(_ context.Context, _ string, done bool) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.refuse > 0 {
		a.refuse--
		return io.ErrUnexpectedEOF
	}
	a.answers = append(a.answers, done)
	return nil
}

// given returns the answers to questions.
func (a *world) given() []bool {
	synctest.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.answers
}

// open opens a window, which ends with the test.
func (a *world) open(t *testing.T, h *Hub) *window {
	w := &window{t: t, words: make(chan any), ended: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	w.end = cancel
	go func() {
		defer close(w.ended)
		w.err = h.attend(ctx, w, func(context.Context) (Asked, bool) {
			a.mu.Lock()
			defer a.mu.Unlock()
			return a.asked, !a.out
		})
	}()
	return w
}

func key(name string) surface.Input {
	return surface.Input{Kind: surface.InputKey, Action: surface.ActionDown, Key: name}
}

func shot(seq uint32) surface.Picture {
	return surface.Picture{Seq: seq, Width: 800, Height: 600, Scale: 1, JPEG: jpeg}
}

var desk = surface.View{Width: 800, Height: 600, Scale: 1, Quality: 60}

// scene is a page that is shown and a world in which the owner is asked for it.
func scene(t *testing.T) (*Hub, *world, *child) {
	a := &world{asked: Asked{RunID: "run_1", Question: "q1"}}
	h := New(t.Context(), Config{Answer: a.answer})
	c := attach(t, h, "run_1")
	c.say(surface.Ready{}, surface.Place{Origin: "https://shop.example", Title: "Sign in"})
	return h, a, c
}

func after(d time.Duration) { time.Sleep(d); synctest.Wait() }
